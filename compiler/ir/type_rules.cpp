#include "compiler/ir/type_rules.h"

#include <algorithm>
#include <utility>

namespace breakeven {

void refuse(std::string reason) { throw RuleRefusal{{"bad_arguments", std::move(reason)}}; }

void refuse_undecidable(std::string reason) {
  throw RuleRefusal{{"undecidable_shape", std::move(reason)}};
}

const ArgValue* RuleArgs::find(std::string_view name) const {
  for (const Arg& arg : args_) {
    if (arg.name != name) continue;
    return std::holds_alternative<std::monostate>(arg.value) ? nullptr : &arg.value;
  }
  return nullptr;
}

const TensorType& RuleArgs::tensor(std::string_view name) const {
  const TensorType* type = optional_tensor(name);
  if (type == nullptr) refuse("tensor argument " + std::string(name) + " is missing");
  return *type;
}

const TensorType* RuleArgs::optional_tensor(std::string_view name) const {
  const ArgValue* value = find(name);
  if (value == nullptr) return nullptr;
  const auto* id = std::get_if<ValueId>(value);
  if (id == nullptr || !id->valid()) refuse("argument " + std::string(name) + " is no tensor");
  return &graph_.type(*id);
}

std::vector<TensorType> RuleArgs::tensors(std::string_view name) const {
  const ArgValue* value = find(name);
  const auto* ids = value == nullptr ? nullptr : std::get_if<std::vector<ValueId>>(value);
  if (ids == nullptr) refuse("argument " + std::string(name) + " is no list of tensors");
  std::vector<TensorType> types;
  for (const ValueId id : *ids) {
    if (!id.valid()) refuse("argument " + std::string(name) + " holds none");
    types.push_back(graph_.type(id));
  }
  return types;
}

bool RuleArgs::boolean(std::string_view name, bool missing) const {
  const ArgValue* value = find(name);
  if (value == nullptr) return missing;
  const auto* flag = std::get_if<bool>(value);
  if (flag == nullptr) refuse("argument " + std::string(name) + " is no bool");
  return *flag;
}

std::int64_t RuleArgs::integer(std::string_view name, std::int64_t missing) const {
  return find(name) == nullptr ? missing : integer(name);
}

std::int64_t RuleArgs::integer(std::string_view name) const {
  const ArgValue* value = find(name);
  if (value == nullptr) refuse("argument " + std::string(name) + " is missing");
  const auto* symbolic = std::get_if<Sym>(value);
  if (symbolic == nullptr) refuse("argument " + std::string(name) + " is no integer");
  const std::optional<std::int64_t> constant = syms().as_constant(*symbolic);
  if (!constant) {
    refuse_undecidable("argument " + std::string(name) +
                       " is symbolic: " + syms().to_string(*symbolic));
  }
  return *constant;
}

Sym RuleArgs::sym(std::string_view name, Sym missing) const {
  const ArgValue* value = find(name);
  if (value == nullptr) return missing;
  const auto* symbolic = std::get_if<Sym>(value);
  if (symbolic == nullptr) refuse("argument " + std::string(name) + " is no integer");
  return *symbolic;
}

std::optional<DType> RuleArgs::dtype(std::string_view name) const {
  const ArgValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto* dtype = std::get_if<DType>(value);
  if (dtype == nullptr) refuse("argument " + std::string(name) + " is no dtype");
  return *dtype;
}

std::string RuleArgs::text(std::string_view name, std::string_view missing) const {
  const ArgValue* value = find(name);
  if (value == nullptr) return std::string(missing);
  const auto* text = std::get_if<std::string>(value);
  if (text == nullptr) refuse("argument " + std::string(name) + " is no string");
  return *text;
}

std::vector<Sym> RuleArgs::syms_of(std::string_view name) const {
  const ArgValue* value = find(name);
  if (value == nullptr) return {};
  if (const auto* one = std::get_if<Sym>(value)) return {*one};
  const auto* list = std::get_if<std::vector<Sym>>(value);
  if (list == nullptr) refuse("argument " + std::string(name) + " is no list of integers");
  return *list;
}

std::vector<std::int64_t> RuleArgs::integers(std::string_view name) const {
  std::vector<std::int64_t> result;
  for (const Sym item : syms_of(name)) {
    const std::optional<std::int64_t> constant = syms().as_constant(item);
    if (!constant) refuse_undecidable("argument " + std::string(name) + " is symbolic");
    result.push_back(*constant);
  }
  return result;
}

std::int64_t wrap_dim(std::int64_t dim, std::size_t rank) {
  const auto dims = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (dim < -dims || dim >= dims) {
    refuse("dim " + std::to_string(dim) + " of a tensor of rank " + std::to_string(rank));
  }
  return dim < 0 ? dim + dims : dim;
}

std::vector<std::int64_t> wrap_dims(const std::vector<std::int64_t>& dims, std::size_t rank) {
  std::vector<std::int64_t> result;
  for (const std::int64_t dim : dims) result.push_back(wrap_dim(dim, rank));
  if (dims.empty()) {
    for (std::size_t i = 0; i < rank; ++i) result.push_back(static_cast<std::int64_t>(i));
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) refuse("a dim is repeated");
  if (rank == 0) result.clear();
  return result;
}

Sym broadcast_size(SymContext& syms, Sym a, Sym b) {
  if (a == b || syms.is_constant(b, 1)) return a;
  if (syms.is_constant(a, 1)) return b;
  const std::string both = syms.to_string(a) + " and " + syms.to_string(b);
  const SymRange range_a = syms.range(a);
  const SymRange range_b = syms.range(b);
  const auto can_be_one = [](SymRange range) { return range.lo <= 1 && range.hi >= 1; };
  if (!can_be_one(range_a) && !can_be_one(range_b)) {
    if (syms.is_provably_different(a, b)) refuse("sizes " + both + " do not broadcast");
    return syms.as_constant(a) ? a : b;  // Neither is 1, so the program needs them equal.
  }
  refuse_undecidable("sizes " + both + " broadcast or not, depending on their values");
}

std::vector<Sym> broadcast(SymContext& syms, const std::vector<Sym>& a, const std::vector<Sym>& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  std::vector<Sym> result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const bool in_a = i + a.size() >= rank;
    const bool in_b = i + b.size() >= rank;
    const Sym size_a = in_a ? a[i + a.size() - rank] : Sym{};
    const Sym size_b = in_b ? b[i + b.size() - rank] : Sym{};
    result[i] = !in_a ? size_b : !in_b ? size_a : broadcast_size(syms, size_a, size_b);
  }
  return result;
}

void require_equal(SymContext& syms, Sym a, Sym b, std::string_view what) {
  if (syms.is_provably_different(a, b)) {
    refuse(std::string(what) + ": " + syms.to_string(a) + " is not " + syms.to_string(b));
  }
}

void Promotion::add_tensor(const TensorType& type) {
  std::optional<DType>& category = type.sizes.empty() ? zero_dim_ : dimensioned_;
  category = category ? promote(*category, type.dtype) : type.dtype;
}

void Promotion::add_scalar(const ArgValue& value) {
  DType dtype = DType::kF32;
  if (std::holds_alternative<bool>(value)) {
    dtype = DType::kBool;
  } else if (std::holds_alternative<Sym>(value)) {
    dtype = DType::kI64;
  } else if (!std::holds_alternative<double>(value)) {
    refuse("an operand is neither a tensor nor a number");
  }
  scalar_ = scalar_ ? promote(*scalar_, dtype) : dtype;
}

DType Promotion::result() const {
  const auto combine = [](std::optional<DType> higher,
                          std::optional<DType> lower) -> std::optional<DType> {
    if (!higher) return lower;
    if (!lower || is_floating(*higher)) return higher;
    if (*higher == DType::kBool || is_floating(*lower)) return promote(*higher, *lower);
    return higher;
  };
  const std::optional<DType> result = combine(dimensioned_, combine(zero_dim_, scalar_));
  if (!result) refuse("the op has no operand");
  return *result;
}

DType promoted(const Graph& graph, const std::vector<Arg>& args,
               const std::vector<std::string_view>& names) {
  Promotion promotion;
  for (const Arg& arg : args) {
    if (std::find(names.begin(), names.end(), arg.name) == names.end()) continue;
    if (std::holds_alternative<std::monostate>(arg.value)) continue;
    if (const auto* id = std::get_if<ValueId>(&arg.value)) {
      promotion.add_tensor(graph.type(*id));
    } else {
      promotion.add_scalar(arg.value);
    }
  }
  return promotion.result();
}

std::vector<Sym> broadcast_operands(const RuleArgs& args) {
  std::vector<Sym> sizes;
  for (const Arg& arg : args.all()) {
    if (const auto* id = std::get_if<ValueId>(&arg.value)) {
      sizes = broadcast(args.syms(), sizes, args.graph().type(*id).sizes);
    }
  }
  return sizes;
}

DType to_floating(DType dtype) { return is_floating(dtype) ? dtype : DType::kF32; }

double rms_norm_eps(DType dtype) { return dtype == DType::kF64 ? 0x1p-52 : 0x1p-23; }

Sym element_count(SymContext& syms, const std::vector<Sym>& sizes) {
  Sym count = syms.constant(1);
  for (const Sym size : sizes) count = syms.mul(count, size);
  return count;
}

}  // namespace breakeven
