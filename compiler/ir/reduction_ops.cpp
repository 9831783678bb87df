#include <utility>

#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

/// Sizes of "self" after a reduction over "dim" (none or empty: all).
std::vector<Sym> reduced_sizes(const RuleArgs& args, const std::vector<std::int64_t>& dims) {
  const TensorType& self = args.tensor("self");
  const bool keep = args.boolean("keepdim", false);
  std::vector<bool> is_reduced(self.sizes.size(), false);
  for (const std::int64_t dim : wrap_dims(dims, self.sizes.size())) {
    is_reduced[static_cast<std::size_t>(dim)] = true;
  }
  std::vector<Sym> sizes;
  for (std::size_t i = 0; i < self.sizes.size(); ++i) {
    if (!is_reduced[i]) sizes.push_back(self.sizes[i]);
    if (is_reduced[i] && keep) sizes.push_back(args.syms().constant(1));
  }
  return sizes;
}

std::vector<Sym> reduced_sizes(const RuleArgs& args) {
  return reduced_sizes(args, args.integers("dim"));
}

std::vector<TensorType> sum_rule(const RuleArgs& args) {
  const DType self = args.tensor("self").dtype;
  const DType missing = is_floating(self) ? self : DType::kI64;
  return {{args.dtype("dtype").value_or(missing), reduced_sizes(args)}};
}

std::vector<TensorType> mean_rule(const RuleArgs& args) {
  const DType dtype = args.dtype("dtype").value_or(args.tensor("self").dtype);
  if (!is_floating(dtype)) refuse("mean of " + std::string(name_of(dtype)));
  return {{dtype, reduced_sizes(args)}};
}

std::vector<TensorType> extreme_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  for (const std::int64_t dim : wrap_dims(args.integers("dim"), self.sizes.size())) {
    if (args.syms().is_constant(self.sizes[static_cast<std::size_t>(dim)], 0)) {
      refuse("the maximum or minimum over a dim of size 0");
    }
  }
  return {{self.dtype, reduced_sizes(args)}};
}

std::vector<TensorType> bool_rule(const RuleArgs& args) {
  const DType self = args.tensor("self").dtype;
  return {{self == DType::kU8 ? DType::kU8 : DType::kBool, reduced_sizes(args)}};
}

std::vector<TensorType> index_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  const std::vector<std::int64_t> dims = args.integers("dim");
  if (dims.size() > 1) refuse("argmax over several dims");
  for (const std::int64_t dim : wrap_dims(dims, self.sizes.size())) {
    if (args.syms().is_constant(self.sizes[static_cast<std::size_t>(dim)], 0)) {
      refuse("argmax over a dim of size 0");
    }
  }
  return {{DType::kI64, reduced_sizes(args)}};
}

std::vector<TensorType> floating_rule(const RuleArgs& args) {
  const DType dtype = args.tensor("self").dtype;
  if (!is_floating(dtype)) refuse("variance of " + std::string(name_of(dtype)));
  return {{dtype, reduced_sizes(args)}};
}

std::vector<TensorType> var_mean_rule(const RuleArgs& args) {
  const std::vector<TensorType> one = floating_rule(args);
  return {one.front(), one.front()};
}

std::vector<TensorType> logsumexp_rule(const RuleArgs& args) {
  return {{to_floating(args.tensor("self").dtype), reduced_sizes(args)}};
}

OpRow fold(std::string_view name, TypeRule type_rule, Combine combine) {
  OpRow row{name, OpClass::kReduction, type_rule, {"self"}};
  row.combine = combine;
  row.tolerance_ulp = combine == Combine::kSum || combine == Combine::kProd ? 8 : 0;
  return row;
}

OpRow plain(std::string_view name, OpClass op_class, TypeRule type_rule) {
  return {name, op_class, type_rule, {"self"}};
}

}  // namespace

std::vector<OpRow> reduction_rows() {
  return {
      fold("aten.sum.dim_IntList", rule<sum_rule>, Combine::kSum),
      fold("aten.sum.default", rule<sum_rule>, Combine::kSum),
      fold("aten.prod.dim_int", rule<sum_rule>, Combine::kProd),
      fold("aten.prod.default", rule<sum_rule>, Combine::kProd),
      fold("aten.amax.default", rule<extreme_rule>, Combine::kMax),
      fold("aten.amin.default", rule<extreme_rule>, Combine::kMin),
      fold("aten.max.default", rule<extreme_rule>, Combine::kMax),
      fold("aten.min.default", rule<extreme_rule>, Combine::kMin),
      fold("aten.any.dims", rule<bool_rule>, Combine::kAny),
      fold("aten.any.dim", rule<bool_rule>, Combine::kAny),
      fold("aten.any.default", rule<bool_rule>, Combine::kAny),
      fold("aten.all.dims", rule<bool_rule>, Combine::kAll),
      fold("aten.all.dim", rule<bool_rule>, Combine::kAll),
      fold("aten.all.default", rule<bool_rule>, Combine::kAll),
      plain("aten.argmax.default", OpClass::kExtern, rule<index_rule>),
      plain("aten.argmin.default", OpClass::kExtern, rule<index_rule>),
      plain("aten.mean.dim", OpClass::kComposite, rule<mean_rule>),
      plain("aten.mean.default", OpClass::kComposite, rule<mean_rule>),
      plain("aten.var.correction", OpClass::kComposite, rule<floating_rule>),
      plain("aten.var.dim", OpClass::kComposite, rule<floating_rule>),
      plain("aten.std.correction", OpClass::kComposite, rule<floating_rule>),
      plain("aten.std.dim", OpClass::kComposite, rule<floating_rule>),
      plain("aten.var_mean.correction", OpClass::kComposite, rule<var_mean_rule>),
      plain("aten.logsumexp.default", OpClass::kComposite, rule<logsumexp_rule>),
  };
}

}  // namespace breakeven
