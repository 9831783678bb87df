#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

using Operands = std::vector<std::string_view>;
using X = std::span<const double>;

const Operands kUnary = {"self"};
const Operands kBinary = {"self", "other"};

/// Scalars that take part in promotion, whatever the op.
const Operands kPromoting = {"self", "other", "exponent", "min",     "max",
                             "end",  "value", "tensor1",  "tensor2", "weight"};

std::vector<TensorType> promote_rule(const RuleArgs& args) {
  return {{promoted(args.graph(), args.all(), kPromoting), broadcast_operands(args)}};
}

/// Of ops with an alpha, whose kind must not exceed the result's.
void check_alpha(const RuleArgs& args, DType result) {
  const ArgValue* alpha = args.find("alpha");
  if (alpha == nullptr) return;
  const bool is_real = std::holds_alternative<double>(*alpha);
  const bool is_integer = std::holds_alternative<Sym>(*alpha);
  if ((is_real && !is_floating(result)) || (is_integer && result == DType::kBool)) {
    refuse("alpha is of a higher kind than " + std::string(name_of(result)));
  }
}

std::vector<TensorType> add_rule(const RuleArgs& args) {
  std::vector<TensorType> types = promote_rule(args);
  check_alpha(args, types.front().dtype);
  return types;
}

std::vector<TensorType> float_rule(const RuleArgs& args) {
  return {{to_floating(promoted(args.graph(), args.all(), kPromoting)), broadcast_operands(args)}};
}

std::vector<TensorType> bool_rule(const RuleArgs& args) {
  promoted(args.graph(), args.all(), kPromoting);
  return {{DType::kBool, broadcast_operands(args)}};
}

std::vector<TensorType> integral_rule(const RuleArgs& args) {
  const DType dtype = promoted(args.graph(), args.all(), kPromoting);
  if (is_floating(dtype)) refuse("a bitwise op on " + std::string(name_of(dtype)));
  return {{dtype, broadcast_operands(args)}};
}

std::vector<TensorType> no_bool_rule(const RuleArgs& args) {
  const DType dtype = promoted(args.graph(), args.all(), kPromoting);
  if (dtype == DType::kBool) refuse("subtraction and negation of bool are not defined");
  check_alpha(args, dtype);
  return {{dtype, broadcast_operands(args)}};
}

std::vector<TensorType> where_rule(const RuleArgs& args) {
  const DType condition = args.tensor("condition").dtype;
  if (condition != DType::kBool) refuse("the condition is " + std::string(name_of(condition)));
  return {{promoted(args.graph(), args.all(), kBinary), broadcast_operands(args)}};
}

std::vector<TensorType> convert_rule(const RuleArgs& args) {
  TensorType type = args.tensor("self");
  type.dtype = args.dtype("dtype").value_or(type.dtype);
  return {type};
}

OpRow row(std::string_view name, TypeRule type_rule, Operands operands, std::string_view c_expr,
          ReferenceFn reference, double tolerance_ulp = 0.5,
          ComputeRule compute = ComputeRule::kPromote) {
  OpRow result{name, OpClass::kPointwise, type_rule, std::move(operands), c_expr};
  result.reference = reference;
  result.tolerance_ulp = tolerance_ulp;
  result.compute = compute;
  return result;
}

OpRow with_int(OpRow base, std::string_view int_expr) {
  base.int_expr = int_expr;
  return base;
}

OpRow float_unary(std::string_view name, std::string_view c_expr, ReferenceFn reference,
                  double tolerance_ulp) {
  return row(name, rule<float_rule>, kUnary, c_expr, reference, tolerance_ulp, ComputeRule::kFloat);
}

double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return a < b ? a : b;
}

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return a > b ? a : b;
}

double remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// By the remainder, not floor(a / b): the quotient of 1 by 0.1 is 9.
double floor_divide(double a, double b) {
  if (b == 0) return a / b;
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

std::int64_t integer(double value) { return static_cast<std::int64_t>(value); }

void add_arithmetic(std::vector<OpRow>& rows) {
  for (const std::string_view name : {"aten.add.Tensor", "aten.add.Scalar"}) {
    rows.push_back(
        row(name, rule<add_rule>, kBinary, "{0} + {1}", [](X x) { return x[0] + x[1]; }));
  }
  for (const std::string_view name : {"aten.sub.Tensor", "aten.sub.Scalar"}) {
    rows.push_back(
        row(name, rule<no_bool_rule>, kBinary, "{0} - {1}", [](X x) { return x[0] - x[1]; }));
  }
  for (const std::string_view name : {"aten.rsub.Tensor", "aten.rsub.Scalar"}) {
    rows.push_back(
        row(name, rule<no_bool_rule>, kBinary, "{1} - {0}", [](X x) { return x[1] - x[0]; }));
  }
  for (const std::string_view name : {"aten.mul.Tensor", "aten.mul.Scalar"}) {
    rows.push_back(
        row(name, rule<promote_rule>, kBinary, "{0} * {1}", [](X x) { return x[0] * x[1]; }));
  }
  for (const std::string_view name : {"aten.div.Tensor", "aten.div.Scalar"}) {
    rows.push_back(row(
        name, rule<float_rule>, kBinary, "{0} / {1}", [](X x) { return x[0] / x[1]; }, 0.5,
        ComputeRule::kFloat));
  }
  for (const std::string_view name : {"aten.floor_divide.default", "aten.floor_divide.Scalar"}) {
    OpRow divide = row(name, rule<promote_rule>, kBinary, "be_floor_div({0}, {1})",
                       [](X x) { return floor_divide(x[0], x[1]); });
    divide.rounds_scalars = true;
    divide.int_division = true;
    rows.push_back(divide);
  }
  for (const std::string_view name : {"aten.remainder.Tensor", "aten.remainder.Scalar"}) {
    OpRow divide = row(name, rule<promote_rule>, kBinary, "be_remainder({0}, {1})",
                       [](X x) { return remainder(x[0], x[1]); });
    divide.rounds_scalars = true;
    divide.int_division = true;
    rows.push_back(divide);
  }
  for (const std::string_view name : {"aten.fmod.Tensor", "aten.fmod.Scalar"}) {
    OpRow divide = with_int(row(name, rule<promote_rule>, kBinary, "be_fmod({0}, {1})",
                                [](X x) { return std::fmod(x[0], x[1]); }),
                            "{0} % {1}");
    divide.rounds_scalars = true;
    divide.int_division = true;
    rows.push_back(divide);
  }
  for (const std::string_view name :
       {"aten.minimum.default", "aten.clamp_max.default", "aten.clamp_max.Tensor"}) {
    Operands operands = {"self", name == "aten.minimum.default" ? "other" : "max"};
    rows.push_back(with_int(row(
                                name, rule<promote_rule>, operands, "be_fmin_nan({0}, {1})",
                                [](X x) { return minimum(x[0], x[1]); }, 0),
                            "{0} < {1} ? {0} : {1}"));
  }
  for (const std::string_view name :
       {"aten.maximum.default", "aten.clamp_min.default", "aten.clamp_min.Tensor"}) {
    Operands operands = {"self", name == "aten.maximum.default" ? "other" : "min"};
    rows.push_back(with_int(row(
                                name, rule<promote_rule>, operands, "be_fmax_nan({0}, {1})",
                                [](X x) { return maximum(x[0], x[1]); }, 0),
                            "{0} > {1} ? {0} : {1}"));
  }
  for (const std::string_view name :
       {"aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", "aten.pow.Scalar"}) {
    rows.push_back(row(
        name, rule<promote_rule>, {"self", "exponent"}, "be_pow({0}, {1})",
        [](X x) { return std::pow(x[0], x[1]); }, 4));
  }
}

void add_unary(std::vector<OpRow>& rows) {
  rows.push_back(
      row("aten.neg.default", rule<no_bool_rule>, kUnary, "-{0}", [](X x) { return -x[0]; }, 0));
  rows.push_back(with_int(row(
                              "aten.abs.default", rule<promote_rule>, kUnary, "be_fabs({0})",
                              [](X x) { return std::fabs(x[0]); }, 0),
                          "{0} < 0 ? -{0} : {0}"));
  rows.push_back(row(
      "aten.sign.default", rule<promote_rule>, kUnary, "({0} > 0) - ({0} < 0)",
      [](X x) { return static_cast<double>((x[0] > 0) - (x[0] < 0)); }, 0));
  rows.push_back(with_int(row(
                              "aten.relu.default", rule<no_bool_rule>, kUnary,
                              "be_fmax_nan({0}, 0)", [](X x) { return maximum(x[0], 0); }, 0),
                          "{0} > 0 ? {0} : 0"));
  rows.push_back(with_int(row(
                              "aten.floor.default", rule<promote_rule>, kUnary, "be_floor({0})",
                              [](X x) { return std::floor(x[0]); }, 0),
                          "{0}"));
  rows.push_back(with_int(row(
                              "aten.ceil.default", rule<promote_rule>, kUnary, "be_ceil({0})",
                              [](X x) { return std::ceil(x[0]); }, 0),
                          "{0}"));
  rows.push_back(with_int(row(
                              "aten.round.default", rule<promote_rule>, kUnary, "be_rint({0})",
                              [](X x) { return std::nearbyint(x[0]); }, 0),
                          "{0}"));
  rows.push_back(with_int(row(
                              "aten.trunc.default", rule<promote_rule>, kUnary, "be_trunc({0})",
                              [](X x) { return std::trunc(x[0]); }, 0),
                          "{0}"));
  rows.push_back(
      float_unary("aten.exp.default", "be_exp({0})", [](X x) { return std::exp(x[0]); }, 2));
  rows.push_back(
      float_unary("aten.log.default", "be_log({0})", [](X x) { return std::log(x[0]); }, 2));
  rows.push_back(
      float_unary("aten.log1p.default", "be_log1p({0})", [](X x) { return std::log1p(x[0]); }, 2));
  rows.push_back(
      float_unary("aten.expm1.default", "be_expm1({0})", [](X x) { return std::expm1(x[0]); }, 2));
  rows.push_back(
      float_unary("aten.sqrt.default", "be_sqrt({0})", [](X x) { return std::sqrt(x[0]); }, 0.5));
  rows.push_back(float_unary(
      "aten.rsqrt.default", "be_rsqrt({0})", [](X x) { return 1 / std::sqrt(x[0]); }, 2));
  rows.push_back(
      float_unary("aten.reciprocal.default", "1 / {0}", [](X x) { return 1 / x[0]; }, 0.5));
  rows.push_back(
      float_unary("aten.sin.default", "be_sin({0})", [](X x) { return std::sin(x[0]); }, 2));
  rows.push_back(
      float_unary("aten.cos.default", "be_cos({0})", [](X x) { return std::cos(x[0]); }, 2));
  rows.push_back(
      float_unary("aten.tanh.default", "be_tanh({0})", [](X x) { return std::tanh(x[0]); }, 3));
  rows.push_back(
      float_unary("aten.erf.default", "be_erf({0})", [](X x) { return std::erf(x[0]); }, 4));
  rows.push_back(float_unary(
      "aten.sigmoid.default", "1 / (1 + be_exp(-{0}))",
      [](X x) { return 1 / (1 + std::exp(-x[0])); }, 3));
  rows.push_back(float_unary(
      "aten.silu.default", "{0} / (1 + be_exp(-{0}))",
      [](X x) { return x[0] / (1 + std::exp(-x[0])); }, 4));
  rows.push_back(float_unary(
      "aten.hardsigmoid.default", "be_fmin_nan(be_fmax_nan({0} + 3, 0), 6) / 6",
      [](X x) { return minimum(maximum(x[0] + 3, 0), 6) / 6; }, 1));
  rows.push_back(float_unary(
      "aten.hardswish.default", "{0} * be_fmin_nan(be_fmax_nan({0} + 3, 0), 6) / 6",
      [](X x) { return x[0] * minimum(maximum(x[0] + 3, 0), 6) / 6; }, 2));
}

void add_comparison(std::vector<OpRow>& rows, std::string_view tensor_name,
                    std::string_view scalar_name, std::string_view c_expr, ReferenceFn reference) {
  for (const std::string_view name : {tensor_name, scalar_name}) {
    rows.push_back(row(name, rule<bool_rule>, kBinary, c_expr, reference, 0));
  }
}

void add_predicates(std::vector<OpRow>& rows) {
  add_comparison(rows, "aten.eq.Tensor", "aten.eq.Scalar", "{0} == {1}",
                 [](X x) { return x[0] == x[1] ? 1.0 : 0.0; });
  add_comparison(rows, "aten.ne.Tensor", "aten.ne.Scalar", "{0} != {1}",
                 [](X x) { return x[0] != x[1] ? 1.0 : 0.0; });
  add_comparison(rows, "aten.lt.Tensor", "aten.lt.Scalar", "{0} < {1}",
                 [](X x) { return x[0] < x[1] ? 1.0 : 0.0; });
  add_comparison(rows, "aten.le.Tensor", "aten.le.Scalar", "{0} <= {1}",
                 [](X x) { return x[0] <= x[1] ? 1.0 : 0.0; });
  add_comparison(rows, "aten.gt.Tensor", "aten.gt.Scalar", "{0} > {1}",
                 [](X x) { return x[0] > x[1] ? 1.0 : 0.0; });
  add_comparison(rows, "aten.ge.Tensor", "aten.ge.Scalar", "{0} >= {1}",
                 [](X x) { return x[0] >= x[1] ? 1.0 : 0.0; });
  rows.push_back(row(
      "aten.logical_and.default", rule<bool_rule>, kBinary, "({0} != 0) & ({1} != 0)",
      [](X x) { return x[0] != 0 && x[1] != 0 ? 1.0 : 0.0; }, 0));
  rows.push_back(row(
      "aten.logical_or.default", rule<bool_rule>, kBinary, "({0} != 0) | ({1} != 0)",
      [](X x) { return x[0] != 0 || x[1] != 0 ? 1.0 : 0.0; }, 0));
  rows.push_back(row(
      "aten.logical_xor.default", rule<bool_rule>, kBinary, "({0} != 0) ^ ({1} != 0)",
      [](X x) { return (x[0] != 0) != (x[1] != 0) ? 1.0 : 0.0; }, 0));
  rows.push_back(row(
      "aten.logical_not.default", rule<bool_rule>, kUnary, "{0} == 0",
      [](X x) { return x[0] == 0 ? 1.0 : 0.0; }, 0));
  rows.push_back(with_int(row(
                              "aten.isnan.default", rule<bool_rule>, kUnary, "{0} != {0}",
                              [](X x) { return std::isnan(x[0]) ? 1.0 : 0.0; }, 0),
                          "0"));
  rows.push_back(with_int(
      row(
          "aten.isinf.default", rule<bool_rule>, kUnary, "({0} == {0}) & ({0} - {0} != {0} - {0})",
          [](X x) { return std::isinf(x[0]) ? 1.0 : 0.0; }, 0),
      "0"));
  rows.push_back(
      with_int(row(
                   "aten.isfinite.default", rule<bool_rule>, kUnary, "{0} - {0} == {0} - {0}",
                   [](X x) { return std::isfinite(x[0]) ? 1.0 : 0.0; }, 0),
               "1"));
}

void add_bitwise(std::vector<OpRow>& rows) {
  for (const std::string_view name : {"aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar",
                                      "aten.__and__.Tensor", "aten.__and__.Scalar"}) {
    rows.push_back(row(
        name, rule<integral_rule>, kBinary, "{0} & {1}",
        [](X x) { return static_cast<double>(integer(x[0]) & integer(x[1])); }, 0));
  }
  for (const std::string_view name : {"aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar",
                                      "aten.__or__.Tensor", "aten.__or__.Scalar"}) {
    rows.push_back(row(
        name, rule<integral_rule>, kBinary, "{0} | {1}",
        [](X x) { return static_cast<double>(integer(x[0]) | integer(x[1])); }, 0));
  }
  for (const std::string_view name : {"aten.bitwise_xor.Tensor", "aten.bitwise_xor.Scalar",
                                      "aten.__xor__.Tensor", "aten.__xor__.Scalar"}) {
    rows.push_back(row(
        name, rule<integral_rule>, kBinary, "{0} ^ {1}",
        [](X x) { return static_cast<double>(integer(x[0]) ^ integer(x[1])); }, 0));
  }
  // Of bool it is the logical not, which canonicalize writes.
  rows.push_back(row(
      "aten.bitwise_not.default", rule<integral_rule>, kUnary, "~{0}",
      [](X x) { return static_cast<double>(~integer(x[0])); }, 0));
}

void add_selection(std::vector<OpRow>& rows) {
  for (const std::string_view name : {"aten.where.self", "aten.where.ScalarSelf",
                                      "aten.where.ScalarOther", "aten.where.Scalar"}) {
    rows.push_back(row(
        name, rule<where_rule>, {"condition", "self", "other"}, "be_select({0}, {1}, {2})",
        [](X x) { return x[0] != 0 ? x[1] : x[2]; }, 0, ComputeRule::kWhere));
  }
  rows.push_back(row(
      "aten._to_copy.default", rule<convert_rule>, kUnary, "{0}", [](X x) { return x[0]; }, 0.5,
      ComputeRule::kConvert));
}

}  // namespace

std::vector<OpRow> pointwise_rows() {
  std::vector<OpRow> rows;
  add_arithmetic(rows);
  add_unary(rows);
  add_predicates(rows);
  add_bitwise(rows);
  add_selection(rows);
  return rows;
}

}  // namespace breakeven
