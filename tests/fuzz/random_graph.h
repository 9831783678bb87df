#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

namespace breakeven {

/// A random sound graph with the one symbol n in [1, 6]; the same for the same seed everywhere.
Graph random_graph(std::uint64_t seed);

/// Inputs of the graph for n = `n`, small values.
std::vector<HostTensor> random_inputs(const Graph& graph, std::uint64_t seed, std::int64_t n);

}  // namespace breakeven
