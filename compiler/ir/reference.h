#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace breakeven {

using WeightMap = std::map<std::string, HostTensor>;

/// Binds symbols from the sizes of `inputs`: a symbol takes the size of the first input dim that is
/// exactly that symbol. Refuses rank or dtype mismatches, contradicting sizes, and sizes outside a
/// symbol's range. Result[i] is the value of graph.syms.symbols()[i].
Result<std::vector<std::int64_t>> bind_symbols(const Graph& graph,
                                               std::span<const HostTensor> inputs);

/// Fills the weights that have an init rule; the same bytes for the same seed on every machine.
void initialise_weights(const Graph& graph, WeightMap& weights);

/// Runs the graph by plain loops, all floating values in fp64: the accuracy reference and the
/// `reference` executor. Slow on purpose. Refuses an op that has neither row nor rule here.
Result<std::vector<HostTensor>> interpret_reference(const Graph& graph, const WeightMap& weights,
                                                    std::span<const HostTensor> inputs);

}  // namespace breakeven
