#include <cmath>
#include <utility>

#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

using Types = std::vector<TensorType>;

/// The size list of a creation op: "size", or none for a scalar.
Types created(const RuleArgs& args, DType missing) {
  std::vector<Sym> sizes = args.syms_of("size");
  for (const Sym size : sizes) {
    if (args.syms().range(size).hi < 0) refuse("a negative size");
  }
  return {{args.dtype("dtype").value_or(missing), std::move(sizes)}};
}

DType dtype_of_scalar(const RuleArgs& args, std::string_view name) {
  const ArgValue* value = args.find(name);
  if (value == nullptr) refuse("argument " + std::string(name) + " is missing");
  Promotion promotion;
  promotion.add_scalar(*value);
  return promotion.result();
}

Types full_rule(const RuleArgs& args) { return created(args, dtype_of_scalar(args, "fill_value")); }

Types zeros_rule(const RuleArgs& args) { return created(args, DType::kF32); }

Types new_rule(const RuleArgs& args) { return created(args, args.tensor("self").dtype); }

Types like_rule(const RuleArgs& args) {
  TensorType type = args.tensor("self");
  type.dtype = args.dtype("dtype").value_or(type.dtype);
  return {type};
}

Types scalar_tensor_rule(const RuleArgs& args) {
  return {{args.dtype("dtype").value_or(DType::kF32), {}}};
}

Types arange_rule(const RuleArgs& args) {
  SymContext& syms = args.syms();
  bool is_floating_range = false;
  const auto number = [&](std::string_view name, std::int64_t missing) -> double {
    const ArgValue* value = args.find(name);
    if (value == nullptr) return static_cast<double>(missing);
    if (const auto* real = std::get_if<double>(value)) {
      is_floating_range = true;
      return *real;
    }
    return 0;
  };
  const double start = number("start", 0);
  const double end = number("end", 0);
  const double step = number("step", 1);
  if (!is_floating_range) {
    const Sym first = args.sym("start", syms.constant(0));
    const Sym last = args.sym("end", syms.constant(0));
    const std::int64_t by = args.integer("step", 1);
    if (by == 0) refuse("arange with step 0");
    const Sym span = by > 0 ? syms.sub(last, first) : syms.sub(first, last);
    const std::int64_t stride = by > 0 ? by : -by;
    Sym count = syms.floor_div(syms.add(span, syms.constant(stride - 1)), syms.constant(stride));
    count = syms.max(count, syms.constant(0));
    return {{args.dtype("dtype").value_or(DType::kI64), {count}}};
  }
  const auto real = [&](std::string_view name, double read) -> double {
    const ArgValue* value = args.find(name);
    const bool is_integer = value != nullptr && std::holds_alternative<Sym>(*value);
    return is_integer ? static_cast<double>(args.integer(name)) : read;
  };
  const double by = real("step", step);
  const double count = std::ceil((real("end", end) - real("start", start)) / by);
  if (!(count >= 0 && count < 1e12)) refuse("arange of no finite, non-negative length");
  return {{args.dtype("dtype").value_or(DType::kF32),
           {syms.constant(static_cast<std::int64_t>(count))}}};
}

Types embedding_rule(const RuleArgs& args) {
  const TensorType& weight = args.tensor("weight");
  const TensorType& indices = args.tensor("indices");
  if (weight.sizes.size() != 2) refuse("embedding needs a table of 2 dims");
  if (!is_integral(indices.dtype)) refuse("indices of " + std::string(name_of(indices.dtype)));
  TensorType type{weight.dtype, indices.sizes};
  type.sizes.push_back(weight.sizes[1]);
  return {type};
}

Types index_select_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  const TensorType& index = args.tensor("index");
  if (!is_integral(index.dtype)) refuse("indices of " + std::string(name_of(index.dtype)));
  if (index.sizes.size() > 1) refuse("index_select needs a list of indices");
  if (self.sizes.empty()) return {self};
  const auto dim = static_cast<std::size_t>(wrap_dim(args.integer("dim"), self.sizes.size()));
  self.sizes[dim] = index.sizes.empty() ? args.syms().constant(1) : index.sizes[0];
  return {self};
}

/// The old rule: a 1-dim tensor of size 0 joins anything and adds nothing.
bool is_skipped(const RuleArgs& args, const TensorType& type) {
  return type.sizes.size() == 1 && args.syms().is_constant(type.sizes[0], 0);
}

Types cat_rule(const RuleArgs& args) {
  const Types tensors = args.tensors("tensors");
  if (tensors.empty()) refuse("cat of no tensor");
  Promotion promotion;
  const TensorType* first = nullptr;
  for (const TensorType& type : tensors) {
    promotion.add_tensor(type);
    if (type.sizes.empty()) refuse("cat of a scalar");
    if (first == nullptr && !is_skipped(args, type)) first = &type;
  }
  if (first == nullptr) return {{promotion.result(), tensors.front().sizes}};
  const auto dim = static_cast<std::size_t>(wrap_dim(args.integer("dim", 0), first->sizes.size()));
  TensorType result{promotion.result(), first->sizes};
  Sym total = args.syms().constant(0);
  for (const TensorType& type : tensors) {
    if (is_skipped(args, type)) continue;
    if (type.sizes.size() != first->sizes.size()) refuse("cat of tensors of different rank");
    for (std::size_t i = 0; i < type.sizes.size(); ++i) {
      if (i != dim) require_equal(args.syms(), type.sizes[i], first->sizes[i], "cat");
    }
    total = args.syms().add(total, type.sizes[dim]);
  }
  result.sizes[dim] = total;
  return {result};
}

Types stack_rule(const RuleArgs& args) {
  const Types tensors = args.tensors("tensors");
  if (tensors.empty()) refuse("stack of no tensor");
  Promotion promotion;
  for (const TensorType& type : tensors) {
    promotion.add_tensor(type);
    if (type.sizes.size() != tensors.front().sizes.size()) refuse("stack of different ranks");
    for (std::size_t i = 0; i < type.sizes.size(); ++i) {
      require_equal(args.syms(), type.sizes[i], tensors.front().sizes[i], "stack");
    }
  }
  TensorType result{promotion.result(), tensors.front().sizes};
  const std::int64_t dim = wrap_dim(args.integer("dim", 0), result.sizes.size() + 1);
  result.sizes.insert(result.sizes.begin() + dim,
                      args.syms().constant(static_cast<std::int64_t>(tensors.size())));
  return {result};
}

Types copy_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  const std::vector<Sym> joint = broadcast(args.syms(), self.sizes, args.tensor("src").sizes);
  if (joint.size() != self.sizes.size()) refuse("copy from a tensor of higher rank");
  for (std::size_t i = 0; i < joint.size(); ++i) {
    require_equal(args.syms(), joint[i], self.sizes[i], "copy");
  }
  return {self};
}

Types to_rule(const RuleArgs& args) { return like_rule(args); }

Types type_as_rule(const RuleArgs& args) {
  return {{args.tensor("other").dtype, args.tensor("self").sizes}};
}

OpRow composite(std::string_view name, TypeRule type_rule) {
  return {name, OpClass::kComposite, type_rule, {"self"}};
}

}  // namespace

std::vector<OpRow> copy_rows() {
  return {
      {"aten.embedding.default", OpClass::kGather, rule<embedding_rule>, {"weight", "indices"}},
      {"aten.index_select.default", OpClass::kGather, rule<index_select_rule>, {"self", "index"}},
      {"aten.cat.default", OpClass::kJoin, rule<cat_rule>, {"tensors"}},
      {"aten.full.default", OpClass::kCreation, rule<full_rule>},
      {"aten.arange.start_step", OpClass::kCreation, rule<arange_rule>},
      composite("aten.stack.default", rule<stack_rule>),
      composite("aten.arange.default", rule<arange_rule>),
      composite("aten.arange.start", rule<arange_rule>),
      composite("aten.zeros.default", rule<zeros_rule>),
      composite("aten.ones.default", rule<zeros_rule>),
      composite("aten.scalar_tensor.default", rule<scalar_tensor_rule>),
      composite("aten.new_full.default", rule<new_rule>),
      composite("aten.new_zeros.default", rule<new_rule>),
      composite("aten.new_ones.default", rule<new_rule>),
      composite("aten.full_like.default", rule<like_rule>),
      composite("aten.zeros_like.default", rule<like_rule>),
      composite("aten.ones_like.default", rule<like_rule>),
      composite("aten.to.dtype", rule<to_rule>),
      composite("aten.to.dtype_layout", rule<to_rule>),
      composite("aten.to.device", rule<to_rule>),
      composite("aten.type_as.default", rule<type_as_rule>),
      composite("aten.copy.default", rule<copy_rule>),
  };
}

}  // namespace breakeven
