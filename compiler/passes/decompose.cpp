#include "compiler/ir/numeric.h"
#include "compiler/ir/op_table.h"
#include "compiler/ir/type_rules.h"
#include "compiler/passes/emitter.h"
#include "compiler/passes/passes.h"

namespace breakeven {
namespace {

bool is_one(const Rewriter& r, const ArgValue& value) {
  if (const auto* integer = std::get_if<Sym>(&value))
    return r.source().syms.is_constant(*integer, 1);
  if (const auto* real = std::get_if<double>(&value)) return *real == 1;
  const auto* flag = std::get_if<bool>(&value);
  return flag != nullptr && *flag;
}

/// add, sub and rsub with a factor: the factor becomes a product of its own.
std::vector<Arg> without_alpha(Rewriter& r, const Node& node) {
  std::vector<Arg> args = r.mapped(node.args);
  const ArgValue* alpha = find_arg(node, "alpha");
  if (alpha == nullptr) return args;
  std::erase_if(args, [](const Arg& arg) { return arg.name == "alpha"; });
  if (std::holds_alternative<std::monostate>(*alpha) || is_one(r, *alpha)) return args;
  const std::string_view scaled = node.op.starts_with("aten.rsub") ? "self" : "other";
  // The sum's dtype first: the factor takes part in no promotion of its own.
  const DType dtype = r.source().type(node.outputs.front()).dtype;
  for (Arg& arg : args) {
    if (arg.name != scaled) continue;
    if (const auto* id = std::get_if<ValueId>(&arg.value)) {
      arg.value =
          add_converted(r, "aten.mul.Scalar", {{"self", r.convert(*id, dtype)}, {"other", *alpha}},
                        nullptr, node.name.empty() ? "" : node.name + ".scaled");
      continue;
    }
    // A scalar times a scalar.
    const auto* x = std::get_if<Sym>(&arg.value);
    const auto* y = std::get_if<Sym>(alpha);
    if (x != nullptr && y != nullptr) {
      arg.value = r.syms().mul(*x, *y);
      continue;
    }
    const auto number = [&r](const ArgValue& value) -> double {
      if (const auto* real = std::get_if<double>(&value)) return *real;
      const auto* integer = std::get_if<Sym>(&value);
      const auto constant =
          integer == nullptr ? std::nullopt : r.source().syms.as_constant(*integer);
      if (!constant) refuse("a symbolic factor");
      return static_cast<double>(*constant);
    };
    arg.value = number(arg.value) * number(*alpha);
  }
  return args;
}

/// Small constant exponents, as eager treats them. Invalid when the exponent is none of them.
ValueId small_power(Rewriter& r, const Node& node) {
  if (node.op != "aten.pow.Tensor_Scalar") return {};
  const ArgValue& exponent = *find_arg(node, "exponent");
  double power = 0;
  if (const auto* real = std::get_if<double>(&exponent)) {
    power = *real;
  } else if (const auto* integer = std::get_if<Sym>(&exponent)) {
    const auto constant = r.source().syms.as_constant(*integer);
    if (!constant) return {};
    power = static_cast<double>(*constant);
  }
  Emitter e(r, node);
  const DType dtype = r.source().type(node.outputs.front()).dtype;
  const ValueId x = r.convert(r.tensor(node, "self"), dtype);
  if (power == 1) return x;
  if (power == 2) return e.binary("mul", x, x, "");
  if (power == 3) return e.binary("mul", e.binary("mul", x, x, "square"), x, "");
  if (!is_floating(dtype)) return {};
  if (power == 0.5) return e.unary("sqrt", x, "");
  if (power == -0.5) return e.unary("rsqrt", x, "");
  if (power == -1) return e.unary("reciprocal", x, "");
  return {};
}

bool convert_pointwise(Rewriter& r, const Node& node) {
  if (const ValueId power = small_power(r, node); power.valid()) {
    Emitter(r, node).finish(power);
    return true;
  }
  r.replace(node, add_converted(r, node.op, without_alpha(r, node), &node));
  return true;
}

/// The operand in the output's dtype; sums and products of 16-bit floats run in f32.
bool convert_reduction(Rewriter& r, const Node& node, const OpRow& row) {
  const DType declared = r.source().type(node.outputs.front()).dtype;
  ValueId self = r.tensor(node, "self");
  std::vector<Arg> args = r.mapped(node.args);
  std::erase_if(args, [](const Arg& arg) { return arg.name == "dtype"; });
  if (declared == DType::kBool && r.type(self).dtype != DType::kBool) {
    const ArgValue zero = r.syms().constant(0);
    self = add_converted(r, "aten.ne.Scalar", {{"self", self}, {"other", zero}});
  } else {
    self = r.convert(self, declared);
  }
  const bool accumulates = row.combine == Combine::kSum || row.combine == Combine::kProd;
  if (accumulates) self = Emitter(r, node).widened(self);
  for (Arg& arg : args) {
    if (arg.name == "self") arg.value = self;
  }
  const DType running = r.type(self).dtype;
  // A sum of i32 would be i64 by the rule unless the dtype is named.
  if (accumulates && is_integral(running) && running != DType::kI64) {
    args.push_back({"dtype", running});
  }
  const ValueId folded = r.add(node.op, std::move(args), node.name);
  r.replace(node, r.convert(folded, declared, node.name));
  return true;
}

bool convert_join(Rewriter& r, const Node& node) {
  const DType dtype = r.source().type(node.outputs.front()).dtype;
  std::vector<Arg> args = r.mapped(node.args);
  for (Arg& arg : args) {
    if (auto* parts = std::get_if<std::vector<ValueId>>(&arg.value)) {
      for (ValueId& part : *parts) part = r.convert(part, dtype);
    }
  }
  r.replace(node, r.add_like(node, node.op, std::move(args)));
  return true;
}

bool decompose_node(Rewriter& r, const Node& node) {
  const OpRow* row = find_op(node.op);
  if (row == nullptr) return false;
  switch (class_of(r.source(), node)) {
    case OpClass::kPointwise:
      return convert_pointwise(r, node);
    case OpClass::kReduction:
      return convert_reduction(r, node, *row);
    case OpClass::kJoin:
      return convert_join(r, node);
    case OpClass::kView:
      // The composite before it may have ended in a view of its own.
      if (node.op != "aten.view.default") return false;
      r.replace(node, r.view(r.tensor(node, "self"), r.source().type(node.outputs.front()).sizes,
                             node.name));
      return true;
    case OpClass::kComposite:
      return decompose_activation(r, node) || decompose_norm(r, node);
    // Integer powers are extern, but the small ones are products.
    case OpClass::kExtern:
      return node.op == "aten.pow.Tensor_Scalar" && convert_pointwise(r, node);
    default:
      return false;
  }
}

}  // namespace

Graph decompose(const Graph& graph) { return Rewriter(graph).run(decompose_node); }

}  // namespace breakeven
