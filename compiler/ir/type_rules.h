#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/op_table.h"

namespace breakeven {

/// What the files of the op table share to write type rules. A rule reads its arguments through
/// RuleArgs and leaves by refuse(), which becomes the Refusal that add_checked and verify report.

struct RuleRefusal {
  Refusal refusal;
};

[[noreturn]] void refuse(std::string reason);
[[noreturn]] void refuse_undecidable(std::string reason);

class RuleArgs {
 public:
  RuleArgs(Graph& graph, const std::vector<Arg>& args) : graph_(graph), args_(args) {}

  Graph& graph() const { return graph_; }
  SymContext& syms() const { return graph_.syms; }
  const std::vector<Arg>& all() const { return args_; }

  /// nullptr when left out or none.
  const ArgValue* find(std::string_view name) const;
  const TensorType& tensor(std::string_view name) const;  ///< Refuses when missing.
  const TensorType* optional_tensor(std::string_view name) const;
  std::vector<TensorType> tensors(std::string_view name) const;
  bool boolean(std::string_view name, bool missing) const;
  std::int64_t integer(std::string_view name, std::int64_t missing) const;
  std::int64_t integer(std::string_view name) const;  ///< Refuses when missing or symbolic.
  Sym sym(std::string_view name, Sym missing) const;
  std::optional<DType> dtype(std::string_view name) const;
  std::string text(std::string_view name, std::string_view missing) const;
  /// A list of sizes; empty when missing. A single integer counts as a list of one.
  std::vector<Sym> syms_of(std::string_view name) const;
  /// The constant integers of a list; empty when missing. Refuses symbolic ones.
  std::vector<std::int64_t> integers(std::string_view name) const;

 private:
  Graph& graph_;
  const std::vector<Arg>& args_;
};

using RuleBody = std::vector<TensorType> (*)(const RuleArgs& args);

/// The TypeRule made of a body: its refusals become values.
template <RuleBody Body>
Result<std::vector<TensorType>> rule(Graph& graph, const std::vector<Arg>& args) {
  try {
    return Body(RuleArgs(graph, args));
  } catch (const RuleRefusal& refusal) {
    return refusal.refusal;
  }
}

/// `dim` of a tensor of `rank` dims, counted from the front. A scalar has the one dim 0.
std::int64_t wrap_dim(std::int64_t dim, std::size_t rank);
/// wrap_dim of each, ascending; all dims when `dims` is empty. Refuses repeats.
std::vector<std::int64_t> wrap_dims(const std::vector<std::int64_t>& dims, std::size_t rank);

/// The size of two dims that meet in a broadcast.
Sym broadcast_size(SymContext& syms, Sym a, Sym b);
std::vector<Sym> broadcast(SymContext& syms, const std::vector<Sym>& a, const std::vector<Sym>& b);
/// Refuses when the two cannot be the same size.
void require_equal(SymContext& syms, Sym a, Sym b, std::string_view what);

/// PyTorch's promotion: tensors with dims, then 0-dim tensors, then scalars, a later category
/// counting only when its kind (bool < integer < floating) is higher.
class Promotion {
 public:
  void add_tensor(const TensorType& type);
  void add_scalar(const ArgValue& value);
  DType result() const;

 private:
  std::optional<DType> dimensioned_, zero_dim_, scalar_;
};

/// Result dtype of the named operands, tensors or scalars.
DType promoted(const Graph& graph, const std::vector<Arg>& args,
               const std::vector<std::string_view>& names);
/// Shape that all tensor operands broadcast to.
std::vector<Sym> broadcast_operands(const RuleArgs& args);
/// f32 for bool and integers, else itself.
DType to_floating(DType dtype);
/// The eps of rms_norm when none is given: the machine epsilon of its compute dtype.
double rms_norm_eps(DType dtype);
/// Product of sizes.
Sym element_count(SymContext& syms, const std::vector<Sym>& sizes);

/// Bounds of slice.Tensor after Python's rules: negative ends count from the back, both are clamped
/// into [0, size], end >= start. Refuses when a sign is undecidable.
struct SliceBounds {
  Sym start, end, count;
};
SliceBounds slice_bounds(SymContext& syms, Sym size, Sym start, Sym end, std::int64_t step);
/// `sizes` with the one -1 in it, if any, replaced by what makes the count equal to `total`.
std::vector<Sym> infer_sizes(SymContext& syms, Sym total, std::vector<Sym> sizes);

/// The rows of each file; op_table() joins them.
std::vector<OpRow> pointwise_rows();
std::vector<OpRow> reduction_rows();
std::vector<OpRow> view_rows();
std::vector<OpRow> copy_rows();
std::vector<OpRow> composite_rows();
std::vector<OpRow> library_rows();

}  // namespace breakeven
