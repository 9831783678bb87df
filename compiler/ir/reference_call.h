#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/op_table.h"

namespace breakeven {

/// What the files of the reference interpreter share.

/// A dense row-major tensor; every element as double.
struct RefTensor {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> sizes;
  std::vector<double> data;

  std::int64_t count() const { return static_cast<std::int64_t>(data.size()); }
  std::int64_t rank() const { return static_cast<std::int64_t>(sizes.size()); }
  std::int64_t size(std::int64_t dim) const { return sizes[static_cast<std::size_t>(dim)]; }
  double at(std::int64_t index) const { return data[static_cast<std::size_t>(index)]; }
  double& at(std::int64_t index) { return data[static_cast<std::size_t>(index)]; }
};

RefTensor make_ref(DType dtype, std::vector<std::int64_t> sizes);
std::int64_t product(std::span<const std::int64_t> sizes);

/// One op being interpreted: its arguments under an assignment of the symbols. Wrong or missing
/// arguments leave by refuse() (type_rules.h).
class RefCall {
 public:
  RefCall(const Graph& graph, const Node& node, std::span<const std::int64_t> symbol_values,
          const std::vector<RefTensor>& values)
      : graph_(graph), node_(node), symbol_values_(symbol_values), values_(values) {}

  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }

  const ArgValue* find(std::string_view name) const;  ///< nullptr when left out or none.
  const RefTensor& value(ValueId id) const { return values_[static_cast<std::size_t>(id.index)]; }
  const RefTensor& tensor(std::string_view name) const;
  const RefTensor* optional_tensor(std::string_view name) const;
  std::vector<const RefTensor*> tensors(std::string_view name) const;  ///< nullptr for none.
  std::int64_t integer(std::string_view name, std::int64_t missing) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  double number(std::string_view name, double missing) const;
  bool boolean(std::string_view name, bool missing) const;
  /// A scalar argument as number; modes given as text as OpRow says.
  std::optional<double> scalar(std::string_view name) const;
  /// Dim argument, wrapped.
  std::int64_t dim(std::string_view name, std::int64_t rank, std::int64_t missing) const;

  /// A tensor of the declared type of output `i`, zeroed.
  RefTensor make_output(std::size_t i = 0) const;

 private:
  std::int64_t evaluate(Sym sym) const { return graph_.syms.evaluate(sym, symbol_values_); }

  const Graph& graph_;
  const Node& node_;
  std::span<const std::int64_t> symbol_values_;
  const std::vector<RefTensor>& values_;
};

using RefOutputs = std::vector<RefTensor>;
using RefFn = RefOutputs (*)(const RefCall& call);

/// Flat positions of the elements of each reduced row: rows in row-major order of the kept dims,
/// elements in row-major order of the reduced ones.
std::vector<std::vector<std::int64_t>> rows_over(std::span<const std::int64_t> sizes,
                                                 std::span<const std::int64_t> dims);

/// Interpreters by file; nullptr when the file has none for the op.
RefFn find_view_reference(std::string_view op);
RefFn find_copy_reference(std::string_view op);
RefFn find_reduction_reference(std::string_view op);
RefFn find_norm_reference(std::string_view op);
RefFn find_library_reference(std::string_view op);
/// Of every row with scalar semantics.
RefOutputs interpret_pointwise(const RefCall& call, const OpRow& row);
/// Of every row with a fold.
RefOutputs interpret_fold(const RefCall& call, const OpRow& row);

}  // namespace breakeven
