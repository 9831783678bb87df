#include <cmath>
#include <string_view>
#include <unordered_map>

#include "compiler/ir/op_table.h"
#include "compiler/ir/type_rules.h"
#include "compiler/passes/emitter.h"

namespace breakeven {
namespace {

using Rewrite = void (*)(Emitter& e, const Node& node);

/// The scalar argument, `missing` when left out.
ArgValue scalar_or(const Node& node, std::string_view name, double missing) {
  const ArgValue* value = find_arg(node, name);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return missing;
  return *value;
}

double number_or(Emitter& e, const Node& node, std::string_view name, double missing) {
  const ArgValue value = scalar_or(node, name, missing);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  const auto* integer = std::get_if<Sym>(&value);
  const auto constant =
      integer == nullptr ? std::nullopt : e.rewriter().source().syms.as_constant(*integer);
  if (!constant) refuse("a symbolic " + std::string(name));
  return static_cast<double>(*constant);
}

bool is_given(const Node& node, std::string_view name) {
  const ArgValue* value = find_arg(node, name);
  return value != nullptr && !std::holds_alternative<std::monostate>(*value);
}

/// x cut to the bounds that are given; the upper one wins when they cross, NaN stays.
ValueId clamped(Emitter& e, ValueId x, const ArgValue* low, const ArgValue* high) {
  const auto overload = [](const ArgValue& bound) {
    return std::holds_alternative<ValueId>(bound) ? ".Tensor" : ".default";
  };
  if (low != nullptr) {
    x = e.op(std::string("aten.clamp_min") + overload(*low), {{"self", x}, {"min", *low}},
             high == nullptr ? "" : "low");
  }
  if (high != nullptr) {
    x = e.op(std::string("aten.clamp_max") + overload(*high), {{"self", x}, {"max", *high}}, "");
  }
  return x;
}

void write_gelu(Emitter& e, const Node& node) {
  const ValueId x = e.widened(e.rewriter().tensor(node, "self"));
  const ArgValue* mode = find_arg(node, "approximate");
  const auto* text = mode == nullptr ? nullptr : std::get_if<std::string>(mode);
  ValueId inner;
  if (text != nullptr && *text == "tanh") {
    const ValueId cube = e.binary("mul", e.binary("mul", x, x, "square"), x, "cube");
    const ValueId sum = e.binary("add", x, e.binary("mul", cube, 0.044715, "scaled"), "sum");
    inner = e.unary("tanh", e.binary("mul", sum, M_SQRT2 * M_2_SQRTPI * 0.5, "inner"), "tanh");
  } else {
    inner = e.unary("erf", e.binary("mul", x, M_SQRT1_2, "inner"), "erf");
  }
  const ValueId half = e.binary("mul", x, 0.5, "half");
  e.finish(e.binary("mul", half, e.binary("add", inner, 1.0, "plus_one"), ""));
}

void write_hardtanh(Emitter& e, const Node& node) {
  const ArgValue low = scalar_or(node, "min_val", -1);
  const ArgValue high = scalar_or(node, "max_val", 1);
  e.finish(clamped(e, e.rewriter().tensor(node, "self"), &low, &high));
}

void write_relu6(Emitter& e, const Node& node) {
  const ArgValue low = 0.0;
  const ArgValue high = 6.0;
  e.finish(clamped(e, e.rewriter().tensor(node, "self"), &low, &high));
}

void write_clamp(Emitter& e, const Node& node) {
  const std::vector<Arg> args = e.rewriter().mapped(node.args);
  const RuleArgs mapped(e.rewriter().graph(), args);
  const DType dtype = e.rewriter().source().type(node.outputs.front()).dtype;
  // Both bounds take part in the promotion, so the conversion comes before either.
  const ValueId x = e.rewriter().convert(e.rewriter().tensor(node, "self"), dtype);
  e.finish(clamped(e, x, mapped.find("min"), mapped.find("max")));
}

ValueId is_positive(Emitter& e, ValueId x) {
  return e.op("aten.gt.Scalar", {{"self", x}, {"other", e.rewriter().syms().constant(0)}},
              "positive");
}

void write_leaky_relu(Emitter& e, const Node& node) {
  const ValueId x = e.widened(e.rewriter().tensor(node, "self"));
  const ValueId sloped = e.binary("mul", x, scalar_or(node, "negative_slope", 0.01), "sloped");
  e.finish(e.where(is_positive(e, x), x, sloped, ""));
}

void write_elu(Emitter& e, const Node& node) {
  const ValueId x = e.widened(e.rewriter().tensor(node, "self"));
  const double scale = number_or(e, node, "scale", 1);
  const double alpha = number_or(e, node, "alpha", 1);
  const ValueId inner = e.binary("mul", x, scalar_or(node, "input_scale", 1), "inner");
  const ValueId below = e.binary("mul", e.unary("expm1", inner, "expm1"), alpha * scale, "below");
  e.finish(e.where(is_positive(e, x), e.binary("mul", x, scale, "above"), below, ""));
}

ValueId softplus(Emitter& e, ValueId x, const ArgValue& beta, const ArgValue& threshold) {
  const ValueId scaled = e.binary("mul", x, beta, "scaled");
  const ValueId is_linear =
      e.op("aten.gt.Scalar", {{"self", scaled}, {"other", threshold}}, "linear");
  const ValueId soft = e.unary("log1p", e.unary("exp", scaled, "exp"), "log1p");
  return e.where(is_linear, x, e.binary("div", soft, beta, "soft"), "softplus");
}

void write_softplus(Emitter& e, const Node& node) {
  const ValueId x = e.widened(e.rewriter().tensor(node, "self"));
  e.finish(softplus(e, x, scalar_or(node, "beta", 1), scalar_or(node, "threshold", 20)));
}

void write_mish(Emitter& e, const Node& node) {
  const ValueId x = e.widened(e.rewriter().tensor(node, "self"));
  e.finish(e.binary("mul", x, e.unary("tanh", softplus(e, x, 1.0, 20.0), "tanh"), ""));
}

/// Truncation of floats; integers stay with the library (class_of).
void write_truncated_division(Emitter& e, const Node& node) {
  const std::vector<Arg> args = e.rewriter().mapped(node.args);
  const ArgValue other = *RuleArgs(e.rewriter().graph(), args).find("other");
  e.finish(
      e.unary("trunc", e.binary("div", e.rewriter().tensor(node, "self"), other, "quotient"), ""));
}

void write_masked_fill(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const DType dtype = r.source().type(node.outputs.front()).dtype;
  const ValueId mask = r.tensor(node, "mask");
  const ValueId self = r.tensor(node, "self");
  if (const ValueId value = r.optional_tensor(node, "value"); value.valid()) {
    e.finish(e.where(mask, r.convert(value, dtype), self, ""));
    return;
  }
  ArgValue value = *find_arg(node, "value");
  const auto* real = std::get_if<double>(&value);
  if (real != nullptr && is_integral(dtype)) {
    value = r.syms().constant(static_cast<std::int64_t>(number_or(e, node, "value", 0)));
  }
  e.finish(e.where(mask, value, self, ""));
}

void write_addc(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const DType dtype = r.source().type(node.outputs.front()).dtype;
  const ValueId first = r.convert(r.tensor(node, "tensor1"), dtype);
  const ValueId second = r.convert(r.tensor(node, "tensor2"), dtype);
  const bool divides = node.op == "aten.addcdiv.default";
  ValueId scaled = first;
  if (is_given(node, "value")) {
    scaled = e.binary("mul", first, scalar_or(node, "value", 1), "scaled");
  }
  const ValueId term = e.binary(divides ? "div" : "mul", scaled, second, "term");
  e.finish(e.binary("add", r.tensor(node, "self"), term, ""));
}

void write_lerp(Emitter& e, const Node& node) {
  const ValueId self = e.rewriter().tensor(node, "self");
  const ValueId gap = e.binary("sub", e.rewriter().tensor(node, "end"), self, "gap");
  e.finish(e.binary("add", self, e.binary("mul", gap, scalar_or(node, "weight", 0), "step"), ""));
}

Rewrite find_rewrite(std::string_view op) {
  static const std::unordered_map<std::string_view, Rewrite> kTable = {
      {"aten.gelu.default", write_gelu},
      {"aten.hardtanh.default", write_hardtanh},
      {"aten.relu6.default", write_relu6},
      {"aten.clamp.default", write_clamp},
      {"aten.clamp.Tensor", write_clamp},
      {"aten.leaky_relu.default", write_leaky_relu},
      {"aten.elu.default", write_elu},
      {"aten.softplus.default", write_softplus},
      {"aten.mish.default", write_mish},
      {"aten.div.Tensor_mode", write_truncated_division},
      {"aten.div.Scalar_mode", write_truncated_division},
      {"aten.masked_fill.Scalar", write_masked_fill},
      {"aten.masked_fill.Tensor", write_masked_fill},
      {"aten.addcmul.default", write_addc},
      {"aten.addcdiv.default", write_addc},
      {"aten.lerp.Scalar", write_lerp},
  };
  const auto place = kTable.find(op);
  return place == kTable.end() ? nullptr : place->second;
}

}  // namespace

bool decompose_activation(Rewriter& rewriter, const Node& node) {
  const Rewrite rewrite = find_rewrite(node.op);
  if (rewrite == nullptr) return false;
  Emitter emitter(rewriter, node);
  rewrite(emitter, node);
  return true;
}

}  // namespace breakeven
