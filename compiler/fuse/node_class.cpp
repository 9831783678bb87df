#include "compiler/fuse/node_class.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace breakeven {
namespace {

const TensorType& output_type(const Graph& graph, const Node& node) {
  return graph.type(node.outputs[0]);
}

Result<bool> is_fusable_pointwise(const Graph& graph, const Node& node, const OpRow& row) {
  if (row.c_expr.empty())
    return Refusal{"no_expression", "the op table has no C expression for it"};
  for (std::string_view name : row.operands) {
    const ArgValue* arg = find_arg(node, name);
    if (arg == nullptr || std::holds_alternative<std::monostate>(*arg)) continue;
    if (std::holds_alternative<ValueId>(*arg)) continue;
    const auto literal = literal_of(graph, *arg, compute_dtype(graph, node));
    if (!literal) return literal.refusal();
  }
  SymContext syms = graph.syms;
  const IndexMap at(output_type(graph, node).sizes.size(), constant_index(syms, 0));
  for (ValueId operand : operands_of(node)) {
    const auto map =
        broadcast_map(syms, at, output_type(graph, node).sizes, graph.type(operand).sizes);
    if (!map) return map.refusal();
  }
  return true;
}

Result<bool> is_fusable_gather(const Node& node) {
  if (node.op == "aten.embedding.default") return true;
  if (node.op == "aten.index_select.default") return true;
  return Refusal{"no_rule", "no index rule for gather " + node.op};
}

Result<bool> is_fusable_creation(const Graph& graph, const Node& node) {
  const DType dtype = output_type(graph, node).dtype;
  for (std::string_view name : {"fill_value", "s", "start", "end", "step"}) {
    const ArgValue* arg = find_arg(node, name);
    if (arg == nullptr) continue;
    const auto literal = literal_of(graph, *arg, dtype);
    if (!literal) return literal.refusal();
  }
  static constexpr std::array<std::string_view, 9> kKnown = {
      "aten.full.default",          "aten.zeros.default",     "aten.ones.default",
      "aten.arange.default",        "aten.arange.start",      "aten.arange.start_step",
      "aten.scalar_tensor.default", "aten.full_like.default", "aten.zeros_like.default"};
  if (std::find(kKnown.begin(), kKnown.end(), node.op) == kKnown.end()) {
    return Refusal{"no_rule", "no rule for creation " + node.op};
  }
  return true;
}

}  // namespace

OpClass row_class(const Node& node) {
  if (node.kind != NodeKind::kOp) return OpClass::kExtern;
  const OpRow* row = find_op(node.op);
  return row == nullptr ? OpClass::kExtern : row->op_class;
}

bool is_heavy(const Node& node) {
  const OpRow* row = find_op(node.op);
  if (row == nullptr) return false;
  for (std::string_view call : {"exp", "log", "tanh", "erf", "pow", "sin", "cos", "tan", "sigmoid",
                                "gamma", "sinh", "cosh", "silu", "gelu", "atan", "acos", "asin"}) {
    if (row->c_expr.find(call) != std::string_view::npos) return true;
  }
  return false;
}

Result<std::vector<std::size_t>> reduced_dims(const Graph& graph, const Node& node) {
  const ArgValue* self = find_arg(node, "self");
  if (self == nullptr || !std::holds_alternative<ValueId>(*self)) {
    return Refusal{"operand_kind", "the reduction has no operand self"};
  }
  const auto rank = static_cast<std::int64_t>(graph.type(std::get<ValueId>(*self)).sizes.size());
  std::vector<Sym> dims;
  if (const ArgValue* arg = find_arg(node, "dim"); arg != nullptr) {
    if (const auto* one = std::get_if<Sym>(arg)) dims = {*one};
    if (const auto* many = std::get_if<std::vector<Sym>>(arg)) dims = *many;
  }
  std::vector<std::size_t> reduced;
  for (Sym dim : dims) {
    const auto value = graph.syms.as_constant(dim);
    if (!value) return Refusal{"symbolic_dim", "the reduced dim is symbolic"};
    if (rank == 0) continue;
    reduced.push_back(static_cast<std::size_t>(*value < 0 ? *value + rank : *value));
  }
  if (dims.empty()) {
    reduced.resize(static_cast<std::size_t>(rank));
    std::iota(reduced.begin(), reduced.end(), std::size_t{0});
  }
  std::sort(reduced.begin(), reduced.end());
  return reduced;
}

std::size_t gathered_dim(const Graph& graph, const Node& node) {
  const ArgValue* dim = find_arg(node, "dim");
  if (node.op == "aten.embedding.default" || dim == nullptr) return 0;
  const std::int64_t d = graph.syms.as_constant(std::get<Sym>(*dim)).value_or(0);
  const std::size_t rank = graph.type(node.outputs[0]).sizes.size();
  return static_cast<std::size_t>(d < 0 ? d + static_cast<std::int64_t>(rank) : d);
}

bool keeps_dims(const Node& node) {
  const ArgValue* keepdim = find_arg(node, "keepdim");
  return keepdim != nullptr && std::holds_alternative<bool>(*keepdim) && std::get<bool>(*keepdim);
}

Result<LiteralValue> literal_of(const Graph& graph, const ArgValue& value, DType dtype) {
  LiteralValue literal;
  if (const auto* flag = std::get_if<bool>(&value)) {
    literal.integer = *flag ? 1 : 0;
  } else if (const auto* number = std::get_if<double>(&value)) {
    literal.kind = LiteralValue::Kind::kFloat;
    literal.number = *number;
    if (!is_floating(dtype)) {
      if (*number != std::floor(*number) || std::abs(*number) > 9.0e15) {
        return Refusal{"float_scalar", "a fractional scalar meets an integer tensor"};
      }
      literal.kind = LiteralValue::Kind::kInteger;
      literal.integer = static_cast<std::int64_t>(*number);
    }
  } else if (const auto* integer = std::get_if<Sym>(&value)) {
    const auto constant = graph.syms.as_constant(*integer);
    literal.kind = constant ? LiteralValue::Kind::kInteger : LiteralValue::Kind::kSymbolic;
    literal.integer = constant.value_or(0);
    literal.symbolic = *integer;
  } else {
    return Refusal{"operand_kind", "the argument is no scalar"};
  }
  return literal;
}

bool is_scalar_constant(const Node& node) {
  return node.kind == NodeKind::kConstant && node.literal.element_count() == 1;
}

Result<bool> is_fusable(const Graph& graph, const Node& node) {
  const OpRow* row = find_op(node.op);
  if (row == nullptr) return Refusal{"unknown_op", "the op table has no row for it"};
  if (!row->pure) return Refusal{"impure", "the op has effects or draws random numbers"};
  if (is_product(node)) {
    const auto product = product_of(graph, node);
    if (!product) return product.refusal();
    if (!product.value().init.valid()) return true;
    SymContext syms = graph.syms;
    const auto& sizes = graph.type(node.outputs[0]).sizes;
    const auto map = broadcast_map(syms, IndexMap(sizes.size(), constant_index(syms, 0)), sizes,
                                   graph.type(product.value().init).sizes);
    if (!map) return map.refusal();
    return true;
  }
  if (row->op_class == OpClass::kExtern) return Refusal{"library", "left to the library"};
  if (class_of(graph, node) == OpClass::kExtern) {
    return Refusal{"argument", "its arguments need the library's error checks or dtypes"};
  }
  if (node.outputs.size() != 1) return Refusal{"outputs", "the op has several outputs"};
  switch (row->op_class) {
    case OpClass::kPointwise:
      return is_fusable_pointwise(graph, node, *row);
    case OpClass::kReduction: {
      if (row->combine == Combine::kNone) return Refusal{"no_rule", "the reduction has no fold"};
      const auto dims = reduced_dims(graph, node);
      if (!dims) return dims.refusal();
      return true;
    }
    case OpClass::kGather:
      return is_fusable_gather(node);
    case OpClass::kCreation:
      return is_fusable_creation(graph, node);
    case OpClass::kJoin:
      return Refusal{"join", "joining tensors is left to the library"};
    case OpClass::kComposite:
      return Refusal{"composite", "the passes did not decompose it"};
    default:
      return Refusal{"class", "no kernel is generated for ops of its class"};
  }
}

}  // namespace breakeven
