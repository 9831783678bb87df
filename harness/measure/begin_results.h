#pragma once

#include <string>

#include "harness/scenario/scenario.h"
#include "reports/schema/results.h"

namespace breakeven {

/// What results say about the scenario and this program; no trial, and nothing of the machine, yet.
Results begin_results(const Scenario& scenario);

/// Names the model's bytes: of its file, of the factory's module, or of both; "none" without a
/// model. Throws UserError with the command that makes a missing file.
std::string model_hash(const Scenario& scenario);

}  // namespace breakeven
