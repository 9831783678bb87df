#pragma once

#include "compiler/fuse/fusion.h"
#include "compiler/ir/op_table.h"

namespace breakeven {

/// Class of the op's row; kExtern for ops without one and for inputs, weights and constants.
OpClass row_class(const Node& node);
/// Whether repeating the op many times costs more than a trip through memory.
bool is_heavy(const Node& node);
/// Dims that a kReduction folds, ascending and non-negative; refuses symbolic ones.
Result<std::vector<std::size_t>> reduced_dims(const Graph& graph, const Node& node);
/// Dim of its table whose rows a kGather picks; it stands at the same place in the result.
std::size_t gathered_dim(const Graph& graph, const Node& node);
bool keeps_dims(const Node& node);
/// Scalar argument as a literal of `dtype`; refuses what is no scalar.
Result<LiteralValue> literal_of(const Graph& graph, const ArgValue& value, DType dtype);
/// One-element constant as a literal.
bool is_scalar_constant(const Node& node);

}  // namespace breakeven
