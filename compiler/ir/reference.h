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

/// How interpret_reference hands back floating outputs.
enum class ReferenceOutput : std::uint8_t {
  kDeclared,  ///< Rounded to the dtype that the graph declares.
  kF64,       ///< As computed.
};

/// Runs the graph by plain loops, all floating values in fp64: the accuracy reference and the
/// `reference` executor. Slow on purpose. Only explicit conversions to 16-bit floats and to
/// integers round. Refuses an op that has no rule here, a missing weight, an index out of range and
/// an integer division by zero.
Result<std::vector<HostTensor>> interpret_reference(
    const Graph& graph, const WeightMap& weights, std::span<const HostTensor> inputs,
    ReferenceOutput output = ReferenceOutput::kDeclared);

}  // namespace breakeven
