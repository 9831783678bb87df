#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "compiler/ir/op_table.h"
#include "compiler/ir/type_rules.h"
#include "compiler/passes/emitter.h"

namespace breakeven {
namespace {

using Rewrite = void (*)(Emitter& e, const Node& node);
using Dims = std::vector<std::int64_t>;

ArgValue scalar_or(const Node& node, std::string_view name, double missing) {
  const ArgValue* value = find_arg(node, name);
  if (value == nullptr || std::holds_alternative<std::monostate>(*value)) return missing;
  return *value;
}

/// "dim" of the source node, wrapped; all dims when it is missing or empty.
Dims dims_of(Emitter& e, const Node& node, ValueId self) {
  const std::vector<Arg> args = e.rewriter().mapped(node.args);
  return wrap_dims(RuleArgs(e.rewriter().graph(), args).integers("dim"),
                   e.rewriter().type(self).sizes.size());
}

Dims last_dims(std::size_t rank, std::size_t count) {
  Dims dims;
  for (std::size_t i = rank - count; i < rank; ++i) dims.push_back(static_cast<std::int64_t>(i));
  return dims;
}

// --- softmax ----------------------------------------------------------------------------------

bool has_empty_dim(Rewriter& r, ValueId x, const Dims& dims) {
  for (const std::int64_t dim : dims) {
    if (r.syms().is_constant(r.type(x).sizes[static_cast<std::size_t>(dim)], 0)) return true;
  }
  return false;
}

/// The declared output filled with `value`: over no element there is no maximum to start from.
void fill(Emitter& e, const Node& node, double value) {
  const TensorType& type = e.rewriter().source().type(node.outputs.front());
  e.finish(e.rewriter().full(type.sizes, value, type.dtype));
}

/// Maximum first, then the difference, then exp: no other order survives large scores.
void write_softmax(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const DType declared = r.source().type(node.outputs.front()).dtype;
  const ValueId self = r.tensor(node, "self");
  // Eager converts to the named dtype first; without one 16-bit floats run in f32.
  const ValueId x = e.widened(r.convert(self, declared));
  const std::vector<Arg> args = r.mapped(node.args);
  const std::size_t rank = r.type(x).sizes.size();
  Dims dims;
  if (rank > 0) dims.push_back(wrap_dim(RuleArgs(r.graph(), args).integer("dim"), rank));
  if (has_empty_dim(r, x, dims)) return fill(e, node, 0);
  const ValueId shifted = e.binary("sub", x, e.reduce("amax", x, dims, "max"), "shifted");
  const ValueId exp = e.unary("exp", shifted, "exp");
  const ValueId sum = e.reduce("sum", exp, dims, "sum");
  if (node.op.find("log_softmax") != std::string::npos) {
    e.finish(e.binary("sub", shifted, e.unary("log", sum, "log"), ""));
  } else {
    e.finish(e.binary("div", exp, sum, ""));
  }
}

void write_logsumexp(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const ValueId self = r.tensor(node, "self");
  const ValueId x = e.widened(r.convert(self, to_floating(r.type(self).dtype)));
  const Dims dims = dims_of(e, node, x);
  if (has_empty_dim(r, x, dims)) {
    return fill(e, node, -std::numeric_limits<double>::infinity());
  }
  const ValueId max = e.reduce("amax", x, dims, "max");
  // An infinite maximum would turn the difference into NaN.
  const ValueId shift = e.where(e.unary("isinf", max, "isinf"), 0.0, max, "shift");
  const ValueId exp = e.unary("exp", e.binary("sub", x, shift, "shifted"), "exp");
  const ValueId log = e.unary("log", e.reduce("sum", exp, dims, "sum"), "log");
  e.finish(e.binary("add", log, shift, ""));
}

// --- mean and variance ------------------------------------------------------------------------

void write_mean(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const DType declared = r.source().type(node.outputs.front()).dtype;
  const ValueId x = e.widened(r.convert(r.tensor(node, "self"), declared));
  e.finish(e.mean(x, dims_of(e, node, x), ""));
}

/// max(count - correction, 0), the divisor of a variance.
ArgValue variance_divisor(Emitter& e, const Node& node, ValueId x, const Dims& dims) {
  Rewriter& r = e.rewriter();
  ArgValue correction = scalar_or(node, "correction", 1);
  if (const auto* is_unbiased = std::get_if<bool>(&correction)) {
    correction = *is_unbiased ? 1.0 : 0.0;
  }
  if (node.op.ends_with(".dim")) {
    const ArgValue* unbiased = find_arg(node, "unbiased");
    const auto* flag = unbiased == nullptr ? nullptr : std::get_if<bool>(unbiased);
    correction = flag == nullptr || *flag ? 1.0 : 0.0;
  }
  if (const auto* real = std::get_if<double>(&correction)) {
    if (*real != std::floor(*real) || std::fabs(*real) > 1e9) refuse("a fractional correction");
    correction = r.syms().constant(static_cast<std::int64_t>(*real));
  }
  const auto* whole = std::get_if<Sym>(&correction);
  if (whole == nullptr) refuse("a correction that is no number");
  Sym count = r.syms().constant(1);
  for (const std::int64_t dim : dims) {
    count = r.syms().mul(count, r.type(x).sizes[static_cast<std::size_t>(dim)]);
  }
  return r.syms().max(r.syms().sub(count, *whole), r.syms().constant(0));
}

/// var, std and var_mean in two passes: the mean, then the squares about it.
void write_variance(Emitter& e, const Node& node) {
  const ValueId x = e.widened(e.rewriter().tensor(node, "self"));
  const Dims dims = dims_of(e, node, x);
  const ArgValue divisor = variance_divisor(e, node, x, dims);
  const ValueId mean = e.mean(x, dims, "mean");
  const ValueId centered = e.binary("sub", x, mean, "centered");
  const ValueId square = e.binary("mul", centered, centered, "square");
  ValueId result = e.binary("div", e.reduce("sum", square, dims, "square.sum"), divisor, "var");
  if (node.op.starts_with("aten.std")) result = e.unary("sqrt", result, "");
  e.finish(result);
  if (node.outputs.size() == 2) e.finish(mean, 1);
}

// --- norms ------------------------------------------------------------------------------------

ValueId affine(Emitter& e, ValueId x, ValueId weight, ValueId bias) {
  if (weight.valid()) x = e.binary("mul", x, weight, "scaled");
  if (bias.valid()) x = e.binary("add", x, bias, "shifted");
  return x;
}

struct Normalized {
  ValueId value, mean, scale;
};

/// (x - mean) / sqrt(var + eps) over `dims`, in two passes.
Normalized normalize(Emitter& e, ValueId x, const Dims& dims, const ArgValue& eps) {
  Normalized result;
  result.mean = e.mean(x, dims, "mean");
  const ValueId centered = e.binary("sub", x, result.mean, "centered");
  const ValueId square = e.binary("mul", centered, centered, "square");
  const ValueId variance = e.mean(square, dims, "var");
  result.scale = e.unary("rsqrt", e.binary("add", variance, eps, "var_eps"), "rstd");
  result.value = e.binary("mul", centered, result.scale, "normalized");
  return result;
}

std::size_t normalized_rank(const Node& node) {
  const ArgValue* shape = find_arg(node, "normalized_shape");
  const auto* list = shape == nullptr ? nullptr : std::get_if<std::vector<Sym>>(shape);
  if (list == nullptr) refuse("normalized_shape is no list");
  return list->size();
}

void write_layer_norm(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const ValueId x = e.widened(r.tensor(node, "input"));
  const Dims dims = last_dims(r.type(x).sizes.size(), normalized_rank(node));
  const Normalized norm = normalize(e, x, dims, scalar_or(node, "eps", 1e-5));
  e.finish(
      affine(e, norm.value, r.optional_tensor(node, "weight"), r.optional_tensor(node, "bias")));
  if (node.outputs.size() == 3) {
    e.finish(norm.mean, 1);
    e.finish(norm.scale, 2);
  }
}

void write_rms_norm(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const ValueId input = r.tensor(node, "input");
  const DType dtype = r.type(input).dtype;
  const ValueId x = e.widened(input);
  const Dims dims = last_dims(r.type(x).sizes.size(), normalized_rank(node));
  const ValueId mean = e.mean(e.binary("mul", x, x, "square"), dims, "mean");
  const ArgValue eps = scalar_or(node, "eps", rms_norm_eps(dtype));
  const ValueId scale = e.unary("rsqrt", e.binary("add", mean, eps, "mean_eps"), "rstd");
  e.finish(
      affine(e, e.binary("mul", x, scale, "normalized"), r.optional_tensor(node, "weight"), {}));
}

/// A per-channel operand shaped to broadcast against dim 1 of a tensor of `rank` dims.
ValueId per_channel(Rewriter& r, ValueId operand, std::size_t rank) {
  if (!operand.valid()) return operand;
  std::vector<Sym> sizes = r.type(operand).sizes;
  sizes.resize(rank - 1, r.syms().constant(1));
  return r.view(operand, std::move(sizes));
}

void write_group_norm(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const ValueId x = e.widened(r.tensor(node, "input"));
  const std::vector<Sym> sizes = r.type(x).sizes;
  const std::vector<Arg> args = r.mapped(node.args);
  const Sym groups = r.syms().constant(RuleArgs(r.graph(), args).integer("num_groups"));
  const Sym rest =
      r.syms().floor_div(element_count(r.syms(), {sizes.begin() + 1, sizes.end()}), groups);
  const ValueId grouped = r.view(x, {sizes[0], groups, rest});
  const Normalized norm = normalize(e, grouped, {2}, scalar_or(node, "eps", 1e-5));
  const ValueId weight = per_channel(r, r.optional_tensor(node, "weight"), sizes.size());
  const ValueId bias = per_channel(r, r.optional_tensor(node, "bias"), sizes.size());
  e.finish(affine(e, r.view(norm.value, sizes), weight, bias));
}

/// With the running statistics; the factor of each channel is computed once, as eager does.
void write_batch_norm(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const ValueId x = e.widened(r.tensor(node, "input"));
  const std::size_t rank = r.type(x).sizes.size();
  const ValueId mean = e.widened(r.tensor(node, "running_mean"));
  const ValueId variance = e.widened(r.tensor(node, "running_var"));
  const ArgValue eps = scalar_or(node, "eps", 1e-5);
  ValueId scale = e.unary("rsqrt", e.binary("add", variance, eps, "var_eps"), "rstd");
  if (const ValueId weight = r.optional_tensor(node, "weight"); weight.valid()) {
    scale = e.binary("mul", scale, weight, "scale");
  }
  const ValueId centered = e.binary("sub", x, per_channel(r, mean, rank), "centered");
  const ValueId scaled = e.binary("mul", centered, per_channel(r, scale, rank), "scaled");
  e.finish(affine(e, scaled, {}, per_channel(r, r.optional_tensor(node, "bias"), rank)));
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    const TensorType& empty = r.source().type(node.outputs[i]);
    e.finish(r.full(empty.sizes, r.syms().constant(0), empty.dtype), i);
  }
}

void write_mse(Emitter& e, const Node& node) {
  Rewriter& r = e.rewriter();
  const DType declared = r.source().type(node.outputs.front()).dtype;
  const ValueId self = e.widened(r.convert(r.tensor(node, "self"), declared));
  const ValueId target = e.widened(r.convert(r.tensor(node, "target"), declared));
  const ValueId gap = e.binary("sub", self, target, "gap");
  const ValueId square = e.binary("mul", gap, gap, "square");
  const std::vector<Arg> args = r.mapped(node.args);
  const std::int64_t reduction = RuleArgs(r.graph(), args).integer("reduction", 1);
  const std::size_t rank = r.type(square).sizes.size();
  if (reduction == 0) {
    e.finish(square);
  } else {
    const Dims all = last_dims(rank, rank);
    e.finish(reduction == 1 ? e.mean(square, all, "mean") : e.reduce("sum", square, all, "sum"));
  }
}

Rewrite find_rewrite(std::string_view op) {
  static const std::unordered_map<std::string_view, Rewrite> kTable = {
      {"aten.softmax.int", write_softmax},
      {"aten._softmax.default", write_softmax},
      {"aten.log_softmax.int", write_softmax},
      {"aten._log_softmax.default", write_softmax},
      {"aten.logsumexp.default", write_logsumexp},
      {"aten.mean.dim", write_mean},
      {"aten.mean.default", write_mean},
      {"aten.var.correction", write_variance},
      {"aten.var.dim", write_variance},
      {"aten.std.correction", write_variance},
      {"aten.std.dim", write_variance},
      {"aten.var_mean.correction", write_variance},
      {"aten.layer_norm.default", write_layer_norm},
      {"aten.native_layer_norm.default", write_layer_norm},
      {"aten.rms_norm.default", write_rms_norm},
      {"aten.group_norm.default", write_group_norm},
      {"aten.batch_norm.default", write_batch_norm},
      {"aten._native_batch_norm_legit_no_training.default", write_batch_norm},
      {"aten.mse_loss.default", write_mse},
  };
  const auto place = kTable.find(op);
  return place == kTable.end() ? nullptr : place->second;
}

}  // namespace

bool decompose_norm(Rewriter& rewriter, const Node& node) {
  const Rewrite rewrite = find_rewrite(node.op);
  if (rewrite == nullptr) return false;
  Emitter emitter(rewriter, node);
  rewrite(emitter, node);
  return true;
}

}  // namespace breakeven
