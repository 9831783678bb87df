#pragma once

#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/result.h"

namespace breakeven {

/// Variables of an index expression: 0..n-1 are those of a group's iteration space; kMemberVar + m
/// is the integer that member m of the group computes (a gathered row).
inline constexpr int kMemberVar = 1 << 20;

struct IndexTerm {
  int var = 0;
  Sym coefficient;
  friend bool operator==(const IndexTerm&, const IndexTerm&) = default;
};

/// base + sum of coefficient * variable; terms ascend by variable and none is zero.
struct Index {
  Sym base;
  std::vector<IndexTerm> terms;
  friend bool operator==(const Index&, const Index&) = default;

  /// Coefficient of `var`, nullptr when the expression does not depend on it.
  const Sym* coefficient_of(int var) const;
};

/// One Index for each dim of a tensor: where in it an element is found.
using IndexMap = std::vector<Index>;

Index constant_index(SymContext& syms, std::int64_t value);
Index variable_index(SymContext& syms, int var);
Index add(SymContext& syms, const Index& a, const Index& b);
Index scale(SymContext& syms, const Index& a, Sym factor);
/// Row-major position, in elements, of the element at `map` in a dense tensor of `sizes`.
Index linear_index(SymContext& syms, const IndexMap& map, std::span<const Sym> sizes);
/// "s0*768*i0 + i1".
std::string to_string(const SymContext& syms, const Index& index);

/// Where a broadcast operand of `operand_sizes` is read when the result of `result_sizes` is
/// written at `at`. Refuses when neither equal sizes nor a size of 1 makes that plain.
Result<IndexMap> broadcast_map(SymContext& syms, const IndexMap& at,
                               std::span<const Sym> result_sizes,
                               std::span<const Sym> operand_sizes);

/// Where view `node` reads its operand "self" for the element `at` of its output number `output`.
/// Refuses when the answer is not affine in `at`.
Result<IndexMap> view_source_map(Graph& graph, const Node& node, int output, const IndexMap& at);

}  // namespace breakeven
