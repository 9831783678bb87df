#include "compiler/fuse/product.h"

#include <algorithm>
#include <array>

#include "compiler/ir/op_table.h"

namespace breakeven {
namespace {

/// The argument names of an op's factors. `columns_first`: the weight is stored transposed.
struct Factors {
  std::string_view op;
  std::string_view rows;
  std::string_view weight;
  std::string_view init;
  bool columns_first;
};

constexpr std::array kFactors = {
    Factors{"aten.linear.default", "input", "weight", "bias", true},
    Factors{"aten.mm.default", "self", "mat2", "", false},
    Factors{"aten.addmm.default", "mat1", "mat2", "self", false},
    Factors{"aten.matmul.default", "self", "other", "", false},
};

const Factors* factors_of(const Node& node) {
  if (node.kind != NodeKind::kOp) return nullptr;
  const auto* found = std::find_if(kFactors.begin(), kFactors.end(),
                                   [&](const Factors& one) { return one.op == node.op; });
  return found == kFactors.end() ? nullptr : found;
}

bool is_one(const Graph& graph, const ArgValue* value) {
  if (value == nullptr) return true;
  if (const auto* integer = std::get_if<Sym>(value)) return graph.syms.is_constant(*integer, 1);
  const auto* real = std::get_if<double>(value);
  return real != nullptr && *real == 1;
}

/// The weight behind `value` and whether the views on the way transpose it.
Result<std::pair<ValueId, bool>> weight_behind(const Graph& graph, ValueId value) {
  bool transposed = false;
  while (graph.node_of(value).kind == NodeKind::kOp) {
    const Node& view = graph.node_of(value);
    const ArgValue* dims = find_arg(view, "dims");
    const bool swaps = view.op == "aten.permute.default" && dims != nullptr &&
                       std::holds_alternative<std::vector<Sym>>(*dims) &&
                       std::get<std::vector<Sym>>(*dims).size() == 2;
    if (!swaps) return Refusal{"computed_weight", "the right factor is computed at run time"};
    transposed = transposed != graph.syms.is_constant(std::get<std::vector<Sym>>(*dims)[0], 1);
    value = std::get<ValueId>(*find_arg(view, "self"));
  }
  if (graph.node_of(value).kind == NodeKind::kInput) {
    return Refusal{"computed_weight", "the right factor is an input of the model"};
  }
  return std::pair(value, transposed);
}

}  // namespace

bool is_product(const Node& node) { return factors_of(node) != nullptr; }

Result<Product> product_of(const Graph& graph, const Node& node) {
  const Factors* factors = factors_of(node);
  if (factors == nullptr) return Refusal{"no_product", "the op multiplies no matrices"};
  Product product;
  product.rows = std::get<ValueId>(*find_arg(node, factors->rows));
  const ValueId right = std::get<ValueId>(*find_arg(node, factors->weight));
  const TensorType& type = graph.type(right);
  if (graph.type(node.outputs[0]).dtype != DType::kF32 || type.dtype != DType::kF32) {
    return Refusal{"product_dtype", "products of f32 alone are generated"};
  }
  if (type.sizes.size() != 2) return Refusal{"product_rank", "the right factor is no matrix"};
  if (!is_one(graph, find_arg(node, "alpha")) || !is_one(graph, find_arg(node, "beta"))) {
    return Refusal{"product_factor", "the product or its addend is scaled"};
  }
  const auto weight = weight_behind(graph, right);
  if (!weight) return weight.refusal();
  product.weight = weight.value().first;
  product.columns_first = factors->columns_first != weight.value().second;
  const auto rows = graph.syms.as_constant(type.sizes[0]);
  const auto columns = graph.syms.as_constant(type.sizes[1]);
  if (!rows || !columns) return Refusal{"symbolic_weight", "the weight has a symbolic size"};
  product.depth = factors->columns_first ? *columns : *rows;
  product.columns = factors->columns_first ? *rows : *columns;
  if (product.columns < 2 || product.depth < 1) {
    return Refusal{"product_size", "a product of one column or of no depth is left to the library"};
  }
  const ArgValue* init = factors->init.empty() ? nullptr : find_arg(node, factors->init);
  if (init != nullptr && std::holds_alternative<ValueId>(*init)) {
    product.init = std::get<ValueId>(*init);
    if (graph.type(product.init).dtype != DType::kF32) {
      return Refusal{"product_dtype", "products of f32 alone are generated"};
    }
  }
  return product;
}

}  // namespace breakeven
