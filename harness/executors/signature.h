#pragma once

#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/error.h"
#include "harness/scenario/scenario.h"

namespace breakeven {

/// What of the scenario's inputs cannot be the model's: their number, order, dtypes, ranks and
/// fixed sizes. A size outside a symbol's range is no fault: the executors count such requests.
std::vector<Diagnostic> signature_faults(const Scenario& scenario, const Graph& model);

/// Throws one UserError with every fault.
void check_signature(const Scenario& scenario, const Graph& model);

/// The model's inputs as a scenario writes them; a size that is no plain symbol is a dim of its
/// own.
ModelSignature signature_of(const Graph& model);

}  // namespace breakeven
