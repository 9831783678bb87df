#pragma once

#include "compiler/fuse/fusion.h"
#include "compiler/ir/op_table.h"

namespace breakeven {

/// kExtern for ops without a row.
OpClass class_of(const Node& node);
/// Whether repeating the op many times costs more than a trip through memory.
bool is_heavy(const Node& node);
/// Dims that a kReduction folds, ascending and non-negative; refuses symbolic ones.
Result<std::vector<std::size_t>> reduced_dims(const Graph& graph, const Node& node);
bool keeps_dims(const Node& node);
/// Scalar argument as a literal of `dtype`; refuses what is no scalar.
Result<LiteralValue> literal_of(const Graph& graph, const ArgValue& value, DType dtype);
/// dtype that a pointwise op computes in: that of its tensor operands, a `condition` apart.
DType compute_dtype(const Graph& graph, const Node& node);
/// One-element constant as a literal.
bool is_scalar_constant(const Node& node);

}  // namespace breakeven
