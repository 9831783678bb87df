#pragma once

#include <vector>

#include "harness/scenario/effective.h"
#include "harness/scenario/scenario.h"

namespace breakeven {

/// Faults that no single key shows: names that refer to nothing, ranges upside down, data files
/// that do not read. Sections with a fault of their own are left out, so that one fault gives one
/// error.
void cross_check(const Scenario& scenario, const Effective& effective,
                 std::vector<Diagnostic>& diagnostics);

}  // namespace breakeven
