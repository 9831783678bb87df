#include "compiler/ir/reference_call.h"

#include <utility>

#include "compiler/ir/numeric.h"
#include "compiler/ir/type_rules.h"

namespace breakeven {

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

RefTensor make_ref(DType dtype, std::vector<std::int64_t> sizes) {
  const std::int64_t count = product(sizes);
  // Larger tensors are no work for an interpreter; a hostile graph must not exhaust the memory.
  if (count < 0 || count > (std::int64_t{1} << 31)) refuse("a tensor of too many elements");
  return {dtype, std::move(sizes), std::vector<double>(static_cast<std::size_t>(count))};
}

const ArgValue* RefCall::find(std::string_view name) const {
  const ArgValue* value = find_arg(node_, name);
  return value == nullptr || std::holds_alternative<std::monostate>(*value) ? nullptr : value;
}

const RefTensor& RefCall::tensor(std::string_view name) const {
  const RefTensor* found = optional_tensor(name);
  if (found == nullptr) refuse("tensor argument " + std::string(name) + " is missing");
  return *found;
}

const RefTensor* RefCall::optional_tensor(std::string_view name) const {
  const ArgValue* found = find(name);
  const auto* id = found == nullptr ? nullptr : std::get_if<ValueId>(found);
  return id == nullptr ? nullptr : &value(*id);
}

std::vector<const RefTensor*> RefCall::tensors(std::string_view name) const {
  const ArgValue* found = find(name);
  const auto* ids = found == nullptr ? nullptr : std::get_if<std::vector<ValueId>>(found);
  if (ids == nullptr) refuse("argument " + std::string(name) + " is no list of tensors");
  std::vector<const RefTensor*> result;
  for (const ValueId id : *ids) result.push_back(id.valid() ? &value(id) : nullptr);
  return result;
}

std::int64_t RefCall::integer(std::string_view name, std::int64_t missing) const {
  const ArgValue* found = find(name);
  if (found == nullptr) return missing;
  if (const auto* sym = std::get_if<Sym>(found)) return evaluate(*sym);
  const auto* list = std::get_if<std::vector<Sym>>(found);
  if (list == nullptr || list->size() != 1) refuse(std::string(name) + " is no integer");
  return evaluate(list->front());
}

std::vector<std::int64_t> RefCall::integers(std::string_view name) const {
  const ArgValue* found = find(name);
  if (found == nullptr) return {};
  if (const auto* one = std::get_if<Sym>(found)) return {evaluate(*one)};
  const auto* list = std::get_if<std::vector<Sym>>(found);
  if (list == nullptr) refuse(std::string(name) + " is no list of integers");
  std::vector<std::int64_t> result;
  for (const Sym sym : *list) result.push_back(evaluate(sym));
  return result;
}

std::optional<double> RefCall::scalar(std::string_view name) const {
  const ArgValue* found = find(name);
  if (found == nullptr) return std::nullopt;
  if (const auto* flag = std::get_if<bool>(found)) return *flag ? 1.0 : 0.0;
  if (const auto* sym = std::get_if<Sym>(found)) return static_cast<double>(evaluate(*sym));
  if (const auto* real = std::get_if<double>(found)) return *real;
  if (const auto* text = std::get_if<std::string>(found)) {
    return *text == "tanh" || *text == "floor" ? 1.0 : *text == "trunc" ? 2.0 : 0.0;
  }
  return std::nullopt;
}

double RefCall::number(std::string_view name, double missing) const {
  return scalar(name).value_or(missing);
}

bool RefCall::boolean(std::string_view name, bool missing) const {
  return scalar(name).value_or(missing ? 1.0 : 0.0) != 0;
}

std::int64_t RefCall::dim(std::string_view name, std::int64_t rank, std::int64_t missing) const {
  return wrap_dim(integer(name, missing), static_cast<std::size_t>(rank));
}

RefTensor RefCall::make_output(std::size_t i) const {
  const TensorType& type = graph_.type(node_.outputs[i]);
  std::vector<std::int64_t> sizes;
  for (const Sym size : type.sizes) sizes.push_back(evaluate(size));
  for (const std::int64_t size : sizes) {
    if (size < 0) refuse("a negative size");
  }
  return make_ref(type.dtype, std::move(sizes));
}

std::vector<std::vector<std::int64_t>> rows_over(std::span<const std::int64_t> sizes,
                                                 std::span<const std::int64_t> dims) {
  std::vector<bool> is_reduced(sizes.size(), false);
  for (const std::int64_t dim : dims) is_reduced[static_cast<std::size_t>(dim)] = true;
  std::int64_t row_count = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) row_count *= is_reduced[d] ? 1 : sizes[d];
  std::vector<std::vector<std::int64_t>> rows(static_cast<std::size_t>(row_count));
  const std::int64_t count = product(sizes);
  for (std::int64_t flat = 0; flat < count; ++flat) {
    std::int64_t rest = flat;
    std::int64_t row = 0;
    std::int64_t scale = 1;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (!is_reduced[d]) {
        row += rest % sizes[d] * scale;
        scale *= sizes[d];
      }
      rest /= sizes[d];
    }
    rows[static_cast<std::size_t>(row)].push_back(flat);
  }
  return rows;
}

}  // namespace breakeven
