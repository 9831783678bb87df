#include <cmath>
#include <limits>
#include <utility>

#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

using Types = std::vector<TensorType>;
using Operands = std::vector<std::string_view>;
using X = std::span<const double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Types self_floating_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  if (!is_floating(self.dtype)) refuse("not defined for " + std::string(name_of(self.dtype)));
  return {self};
}

Types clamp_rule(const RuleArgs& args) {
  if (args.find("min") == nullptr && args.find("max") == nullptr) refuse("clamp without a bound");
  return {{promoted(args.graph(), args.all(), {"self", "min", "max"}), broadcast_operands(args)}};
}

Types promote_rule(const RuleArgs& args) {
  return {{promoted(args.graph(), args.all(), {"self", "other", "tensor1", "tensor2", "end"}),
           broadcast_operands(args)}};
}

Types addc_rule(const RuleArgs& args) {
  Types types = promote_rule(args);
  const ArgValue* value = args.find("value");
  const bool is_real = value != nullptr && std::holds_alternative<double>(*value);
  if (is_real && !is_floating(types.front().dtype)) refuse("a fractional value for integers");
  return types;
}

Types floating_rule(const RuleArgs& args) {
  Types types = promote_rule(args);
  if (!is_floating(types.front().dtype)) refuse("not defined for integers");
  return types;
}

Types div_mode_rule(const RuleArgs& args) {
  const DType dtype = promoted(args.graph(), args.all(), {"self", "other"});
  const bool is_true_division = args.find("rounding_mode") == nullptr;
  if (!is_true_division) {
    const std::string mode = args.text("rounding_mode", "");
    if (mode != "floor" && mode != "trunc") refuse("rounding_mode '" + mode + "'");
  }
  return {{is_true_division ? to_floating(dtype) : dtype, broadcast_operands(args)}};
}

Types masked_fill_rule(const RuleArgs& args) {
  const DType mask = args.tensor("mask").dtype;
  if (mask != DType::kBool) refuse("the mask is " + std::string(name_of(mask)));
  return {{args.tensor("self").dtype, broadcast_operands(args)}};
}

Types softmax_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  wrap_dim(args.integer("dim"), self.sizes.size());
  self.dtype = args.dtype("dtype").value_or(self.dtype);
  if (args.boolean("half_to_float", false)) self.dtype = DType::kF32;
  if (!is_floating(self.dtype)) refuse("softmax of " + std::string(name_of(self.dtype)));
  return {self};
}

/// Checks normalized_shape and the affine operands against the last dims of the input.
void check_normalized(const RuleArgs& args, const TensorType& input) {
  const std::vector<Sym> shape = args.syms_of("normalized_shape");
  if (!is_floating(input.dtype)) refuse("a norm of " + std::string(name_of(input.dtype)));
  if (shape.empty() || shape.size() > input.sizes.size()) {
    refuse("normalized_shape does not fit the input's rank");
  }
  const std::size_t outer = input.sizes.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    require_equal(args.syms(), shape[i], input.sizes[outer + i], "normalized_shape");
  }
  for (const std::string_view name : {"weight", "bias"}) {
    const TensorType* affine = args.optional_tensor(name);
    if (affine == nullptr) continue;
    if (affine->sizes.size() != shape.size()) refuse("weight or bias of another rank");
    for (std::size_t i = 0; i < shape.size(); ++i) {
      require_equal(args.syms(), shape[i], affine->sizes[i], "weight or bias");
    }
  }
}

Types layer_norm_rule(const RuleArgs& args) {
  const TensorType& input = args.tensor("input");
  check_normalized(args, input);
  return {input};
}

Types native_layer_norm_rule(const RuleArgs& args) {
  const TensorType& input = args.tensor("input");
  check_normalized(args, input);
  TensorType statistics = input;
  const std::size_t inner = args.syms_of("normalized_shape").size();
  for (std::size_t i = input.sizes.size() - inner; i < input.sizes.size(); ++i) {
    statistics.sizes[i] = args.syms().constant(1);
  }
  return {input, statistics, statistics};
}

/// Checks that per-channel operands have the size of dim 1.
void check_channels(const RuleArgs& args, const TensorType& input, const Operands& names) {
  if (!is_floating(input.dtype)) refuse("a norm of " + std::string(name_of(input.dtype)));
  if (input.sizes.size() < 2) refuse("the input has no channel dim");
  for (const std::string_view name : names) {
    const TensorType* operand = args.optional_tensor(name);
    if (operand == nullptr) continue;
    if (operand->sizes.size() != 1) refuse(std::string(name) + " is no list of channels");
    require_equal(args.syms(), operand->sizes[0], input.sizes[1], name);
  }
}

Types group_norm_rule(const RuleArgs& args) {
  const TensorType& input = args.tensor("input");
  check_channels(args, input, {"weight", "bias"});
  const std::int64_t groups = args.integer("num_groups");
  const std::optional<std::int64_t> channels = args.syms().as_constant(input.sizes[1]);
  if (groups < 1 || (channels && *channels % groups != 0)) {
    refuse("the channels do not divide into " + std::to_string(groups) + " groups");
  }
  return {input};
}

Types batch_norm_rule(const RuleArgs& args) {
  const TensorType& input = args.tensor("input");
  check_channels(args, input, {"weight", "bias", "running_mean", "running_var"});
  return {input};
}

Types native_batch_norm_rule(const RuleArgs& args) {
  const TensorType& input = args.tensor("input");
  check_channels(args, input, {"weight", "bias", "running_mean", "running_var"});
  const TensorType empty{input.dtype, {args.syms().constant(0)}};
  return {input, empty, empty};
}

Types mse_rule(const RuleArgs& args) {
  TensorType type{promoted(args.graph(), args.all(), {"self", "target"}), broadcast_operands(args)};
  if (!is_floating(type.dtype)) refuse("mse_loss of " + std::string(name_of(type.dtype)));
  if (args.integer("reduction", 1) != 0) type.sizes.clear();
  return {type};
}

Types input_rule(const RuleArgs& args) { return {args.tensor("input")}; }

OpRow pointwise(std::string_view name, TypeRule type_rule, Operands operands, ReferenceFn reference,
                std::vector<double> defaults = {}) {
  OpRow row{name, OpClass::kComposite, type_rule, std::move(operands)};
  row.reference = reference;
  row.defaults = std::move(defaults);
  row.tolerance_ulp = 6;
  return row;
}

OpRow composite(std::string_view name, TypeRule type_rule, Operands operands) {
  OpRow row{name, OpClass::kComposite, type_rule, std::move(operands)};
  row.tolerance_ulp = 16;
  return row;
}

double clamp(double x, double low, double high) {
  if (std::isnan(x) || std::isnan(low) || std::isnan(high)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double raised = x > low ? x : low;
  return raised < high ? raised : high;
}

double gelu(X x) {
  if (x[1] == 0) return x[0] * 0.5 * (1 + std::erf(x[0] * M_SQRT1_2));
  const double inner = M_SQRT2 * M_2_SQRTPI * 0.5 * (x[0] + 0.044715 * x[0] * x[0] * x[0]);
  return 0.5 * x[0] * (1 + std::tanh(inner));
}

double softplus(double x, double beta, double threshold) {
  return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta;
}

double divide(X x) {
  const double quotient = x[0] / x[1];
  if (x[2] == 2) return std::trunc(quotient);
  if (x[2] == 0) return quotient;
  return find_op("aten.floor_divide.default")->reference(x.first(2));
}

void add_activations(std::vector<OpRow>& rows) {
  const TypeRule self = rule<self_floating_rule>;
  rows.push_back(pointwise("aten.gelu.default", self, {"self", "approximate"}, gelu, {0}));
  rows.push_back(pointwise("aten.hardtanh.default", rule<clamp_rule>,
                           {"self", "min_val", "max_val"},
                           [](X x) { return clamp(x[0], x[1], x[2]); }, {-1, 1}));
  rows.back().type_rule = self;
  rows.push_back(
      pointwise("aten.relu6.default", self, {"self"}, [](X x) { return clamp(x[0], 0, 6); }));
  rows.push_back(pointwise("aten.leaky_relu.default", self, {"self", "negative_slope"},
                           [](X x) { return x[0] > 0 ? x[0] : x[0] * x[1]; }, {0.01}));
  rows.push_back(
      pointwise("aten.elu.default", self, {"self", "alpha", "scale", "input_scale"},
                [](X x) { return x[0] > 0 ? x[0] * x[2] : std::expm1(x[0] * x[3]) * x[1] * x[2]; },
                {1, 1, 1}));
  rows.push_back(pointwise("aten.softplus.default", self, {"self", "beta", "threshold"},
                           [](X x) { return softplus(x[0], x[1], x[2]); }, {1, 20}));
  rows.push_back(pointwise("aten.mish.default", self, {"self"},
                           [](X x) { return x[0] * std::tanh(softplus(x[0], 1, 20)); }));
}

void add_arithmetic(std::vector<OpRow>& rows) {
  for (const std::string_view name : {"aten.clamp.default", "aten.clamp.Tensor"}) {
    rows.push_back(pointwise(name, rule<clamp_rule>, {"self", "min", "max"},
                             [](X x) { return clamp(x[0], x[1], x[2]); }, {-kInfinity, kInfinity}));
  }
  rows.push_back(pointwise("aten.square.default", rule<promote_rule>, {"self"},
                           [](X x) { return x[0] * x[0]; }));
  for (const std::string_view name : {"aten.div.Tensor_mode", "aten.div.Scalar_mode"}) {
    rows.push_back(
        pointwise(name, rule<div_mode_rule>, {"self", "other", "rounding_mode"}, divide, {0}));
    rows.back().int_division = true;
  }
  for (const std::string_view name : {"aten.masked_fill.Scalar", "aten.masked_fill.Tensor"}) {
    rows.push_back(pointwise(name, rule<masked_fill_rule>, {"self", "mask", "value"},
                             [](X x) { return x[1] != 0 ? x[2] : x[0]; }));
  }
  rows.push_back(pointwise("aten.addcmul.default", rule<addc_rule>,
                           {"self", "tensor1", "tensor2", "value"},
                           [](X x) { return x[0] + x[3] * x[1] * x[2]; }, {1}));
  rows.push_back(pointwise("aten.addcdiv.default", rule<floating_rule>,
                           {"self", "tensor1", "tensor2", "value"},
                           [](X x) { return x[0] + x[3] * x[1] / x[2]; }, {1}));
  rows.push_back(pointwise("aten.lerp.Scalar", rule<floating_rule>, {"self", "end", "weight"},
                           [](X x) { return x[0] + x[2] * (x[1] - x[0]); }));
}

}  // namespace

std::vector<OpRow> composite_rows() {
  std::vector<OpRow> rows;
  add_activations(rows);
  add_arithmetic(rows);
  rows.push_back(composite("aten.softmax.int", rule<softmax_rule>, {"self"}));
  rows.push_back(composite("aten._softmax.default", rule<softmax_rule>, {"self"}));
  rows.push_back(composite("aten.log_softmax.int", rule<softmax_rule>, {"self"}));
  rows.push_back(composite("aten._log_softmax.default", rule<softmax_rule>, {"self"}));
  rows.push_back(
      composite("aten.layer_norm.default", rule<layer_norm_rule>, {"input", "weight", "bias"}));
  rows.push_back(composite("aten.native_layer_norm.default", rule<native_layer_norm_rule>,
                           {"input", "weight", "bias"}));
  rows.push_back(composite("aten.rms_norm.default", rule<layer_norm_rule>, {"input", "weight"}));
  rows.push_back(
      composite("aten.group_norm.default", rule<group_norm_rule>, {"input", "weight", "bias"}));
  const Operands batch = {"input", "weight", "bias", "running_mean", "running_var"};
  rows.push_back(composite("aten.batch_norm.default", rule<batch_norm_rule>, batch));
  rows.push_back(composite("aten._native_batch_norm_legit_no_training.default",
                           rule<native_batch_norm_rule>, batch));
  rows.push_back(composite("aten.mse_loss.default", rule<mse_rule>, {"self", "target"}));
  rows.push_back(composite("aten.dropout.default", rule<input_rule>, {"input"}));
  rows.back().pure = false;  // With train=true it draws random numbers.
  return rows;
}

}  // namespace breakeven
