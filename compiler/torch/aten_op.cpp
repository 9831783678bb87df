#include "compiler/torch/aten_op.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/support/text.h"
#include "compiler/torch/aten_tensor.h"

namespace breakeven {
namespace {

struct OpName {
  std::string space, name, overload;
};

/// "aten.add.Tensor" -> {"aten", "add", "Tensor"}; "default" is the empty overload.
std::optional<OpName> split_op(std::string_view op) {
  const std::size_t first = op.find('.');
  const std::size_t last = op.rfind('.');
  if (first == std::string_view::npos || first == last) return std::nullopt;
  OpName result{std::string(op.substr(0, first)),
                std::string(op.substr(first + 1, last - first - 1)),
                std::string(op.substr(last + 1))};
  if (result.overload == "default") result.overload.clear();
  return result;
}

bool namespace_is_registered(const std::string& space) {
  const std::string prefix = space + "::";
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.starts_with(prefix)) return true;
  }
  return false;
}

std::optional<c10::Layout> parse_layout(const std::string& text) {
  if (text == "strided") return c10::kStrided;
  return std::nullopt;
}

std::optional<c10::MemoryFormat> parse_memory_format(const std::string& text) {
  if (text == "contiguous_format") return c10::MemoryFormat::Contiguous;
  if (text == "preserve_format") return c10::MemoryFormat::Preserve;
  if (text == "channels_last") return c10::MemoryFormat::ChannelsLast;
  if (text == "channels_last_3d") return c10::MemoryFormat::ChannelsLast3d;
  return std::nullopt;
}

at::Tensor wrapped_number(const c10::Scalar& value) {
  at::Tensor tensor = c10::scalar_to_tensor(value);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

}  // namespace

Result<c10::OperatorHandle> find_operator(std::string_view op) {
  const auto parts = split_op(op);
  if (!parts) {
    return Refusal{"unknown_op",
                   "'" + printable(op) + "' is not of the form namespace.op.overload"};
  }
  const std::string qualified = parts->space + "::" + parts->name;
  // A model from elsewhere must not open files with the rights of who measures it.
  if (qualified == "aten::from_file") {
    return Refusal{"unsafe_op",
                   "aten::from_file opens a file by name; keep the data in the model's archive"};
  }
  auto handle = c10::Dispatcher::singleton().findSchema({qualified, parts->overload});
  if (handle) return *handle;
  if (!namespace_is_registered(parts->space)) {
    return Refusal{
        "unknown_namespace",
        printable(qualified) + ": no loaded library registers it; load " + printable(parts->space)};
  }
  return Refusal{"unknown_op",
                 "LibTorch has no operator " + printable(qualified) +
                     (parts->overload.empty() ? "" : "." + printable(parts->overload))};
}

std::string message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  const std::size_t end = text.find("\nException raised from");
  if (end != std::string::npos) text.resize(end);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text, 400);
}

/// Converts one node's arguments against the schema.
struct AtenOp::Binder {
  const Graph& graph;
  const Node& node;
  const BindOptions& options;
  AtenOp& op;
  int next_operand = 0;
  std::string problem = {};

  using TypeKind = c10::TypeKind;

  static c10::TypePtr element_of(const c10::TypePtr& type) {
    return type->expectRef<c10::ListType>().getElementType();
  }
  static c10::TypePtr without_optional(const c10::TypePtr& type) {
    if (type->kind() != TypeKind::OptionalType) return type;
    return type->expectRef<c10::OptionalType>().getElementType();
  }

  c10::IValue refuse(const std::string& what) {
    if (problem.empty()) problem = what;
    return {};
  }

  /// Stack value of `value` for the argument at `position`; registers slots for what a call fills.
  c10::IValue convert(const ArgValue& value, const c10::Argument& argument, int position) {
    const c10::TypePtr type = without_optional(argument.real_type());
    const TypeKind kind = type->kind();
    if (std::holds_alternative<std::monostate>(value)) return {};
    if (const auto* id = std::get_if<ValueId>(&value)) return tensor(*id, kind, position);
    if (const auto* ids = std::get_if<std::vector<ValueId>>(&value)) {
      return tensors(*ids, type, position);
    }
    if (const auto* flag = std::get_if<bool>(&value)) return number(c10::Scalar(*flag), kind);
    if (const auto* sym = std::get_if<Sym>(&value)) {
      return kind == TypeKind::ListType ? symbols(repeated(*sym, argument), type, position)
                                        : symbol(*sym, kind, position);
    }
    if (const auto* real = std::get_if<double>(&value)) return number(c10::Scalar(*real), kind);
    if (const auto* syms = std::get_if<std::vector<Sym>>(&value)) {
      return symbols(*syms, type, position);
    }
    if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
      return c10::IValue(c10::List<double>(*reals));
    }
    if (const auto* flags = std::get_if<std::vector<bool>>(&value)) {
      c10::List<bool> list;
      for (const bool flag : *flags) list.push_back(flag);
      return c10::IValue(list);
    }
    if (const auto* dtype = std::get_if<DType>(&value)) {
      const bool widen = options.as_fp64 && is_floating(*dtype);
      return c10::IValue(static_cast<std::int64_t>(to_scalar_type(widen ? DType::kF64 : *dtype)));
    }
    return text(std::get<std::string>(value), kind);
  }

  static std::vector<Sym> repeated(Sym sym, const c10::Argument& argument) {
    return std::vector<Sym>(static_cast<std::size_t>(argument.N().value_or(1)), sym);
  }

  c10::IValue tensor(ValueId id, TypeKind kind, int position) {
    if (kind != TypeKind::TensorType) return refuse("a tensor where the schema takes none");
    if (!id.valid()) return {};
    op.tensor_slots_.push_back({position, next_operand++});
    return {};
  }

  c10::IValue tensors(const std::vector<ValueId>& ids, const c10::TypePtr& type, int position) {
    if (type->kind() != TypeKind::ListType) return refuse("a list where the schema takes none");
    ListSlot slot;
    slot.position = position;
    slot.optional_elements = element_of(type)->kind() == TypeKind::OptionalType;
    for (const ValueId id : ids) slot.operands.push_back(id.valid() ? next_operand++ : -1);
    op.list_slots_.push_back(std::move(slot));
    return {};
  }

  c10::IValue number(const c10::Scalar& value, TypeKind kind) {
    switch (kind) {
      case TypeKind::TensorType:
        return c10::IValue(wrapped_number(value));
      case TypeKind::FloatType:
        return c10::IValue(value.toDouble());
      case TypeKind::BoolType:
        return c10::IValue(value.toBool());
      case TypeKind::IntType:
      case TypeKind::SymIntType:
        if (value.isFloatingPoint())
          return refuse("a real number where the schema takes an integer");
        return c10::IValue(value.toLong());
      case TypeKind::NumberType:
        return c10::IValue(value);
      default:
        return refuse("a number where the schema takes " + std::string(typeKindToString(kind)));
    }
  }

  SymbolSlot slot_for(Sym sym, int position) {
    SymbolSlot slot;
    slot.position = position;
    slot.expression = sym;
    if (const auto index = graph.syms.symbol_index(sym)) {
      slot.symbol = *index;
    } else if (!op.syms_) {
      op.syms_ = std::make_shared<const SymContext>(graph.syms);
    }
    return slot;
  }

  c10::IValue symbol(Sym sym, TypeKind kind, int position) {
    if (const auto constant = graph.syms.as_constant(sym))
      return number(c10::Scalar(*constant), kind);
    SymbolSlot slot = slot_for(sym, position);
    if (kind == TypeKind::TensorType) slot.kind = SymbolSlot::Kind::kTensor;
    if (kind == TypeKind::FloatType) slot.kind = SymbolSlot::Kind::kDouble;
    op.symbol_slots_.push_back(slot);
    return {};
  }

  c10::IValue symbols(const std::vector<Sym>& syms, const c10::TypePtr& type, int position) {
    if (type->kind() != TypeKind::ListType) return refuse("a list where the schema takes none");
    if (element_of(type)->kind() == TypeKind::FloatType) return reals(syms);
    c10::List<std::int64_t> list;
    for (std::size_t i = 0; i < syms.size(); ++i) {
      const auto constant = graph.syms.as_constant(syms[i]);
      list.push_back(constant.value_or(0));
      if (constant) continue;
      SymbolSlot slot = slot_for(syms[i], position);
      slot.element = static_cast<int>(i);
      op.symbol_list_slots_.push_back(slot);
    }
    return c10::IValue(std::move(list));
  }

  c10::IValue reals(const std::vector<Sym>& syms) {
    c10::List<double> list;
    for (const Sym sym : syms) {
      const auto constant = graph.syms.as_constant(sym);
      if (!constant) return refuse("a symbolic size where the schema takes real numbers");
      list.push_back(static_cast<double>(*constant));
    }
    return c10::IValue(std::move(list));
  }

  c10::IValue text(const std::string& value, TypeKind kind) {
    if (kind == TypeKind::StringType) return c10::IValue(value);
    if (kind == TypeKind::DeviceObjType && value == "cpu")
      return c10::IValue(c10::Device(c10::kCPU));
    if (kind == TypeKind::LayoutType) {
      if (const auto layout = parse_layout(value)) {
        return c10::IValue(static_cast<std::int64_t>(*layout));
      }
    }
    if (kind == TypeKind::MemoryFormatType) {
      if (const auto format = parse_memory_format(value)) {
        return c10::IValue(static_cast<std::int64_t>(*format));
      }
    }
    return refuse("'" + printable(value, 40) + "' where the schema takes " +
                  std::string(typeKindToString(kind)));
  }
};

Result<AtenOp> AtenOp::bind(const Graph& graph, const Node& node, BindOptions options) {
  const bool as_reshape = options.view_may_copy && node.op == "aten.view.default";
  auto handle = find_operator(as_reshape ? "aten.reshape.default" : node.op);
  if (!handle) return handle.refusal();
  const c10::FunctionSchema& schema = handle.value().schema();
  AtenOp op(handle.value());
  op.name_ = node.op;
  op.output_count_ = node.outputs.size();
  op.template_.resize(schema.arguments().size());

  std::vector<bool> given(schema.arguments().size(), false);
  Binder binder{graph, node, options, op};
  for (const Arg& arg : node.args) {
    const std::string& name = as_reshape && arg.name == "size" ? std::string("shape") : arg.name;
    const auto position = schema.argumentIndexWithName(name);
    if (!position) {
      return Refusal{"unknown_argument",
                     node.op + " has no argument '" + printable(arg.name) + "'"};
    }
    given[static_cast<std::size_t>(*position)] = true;
    op.template_[static_cast<std::size_t>(*position)] = binder.convert(
        arg.value, schema.arguments()[static_cast<std::size_t>(*position)], *position);
    if (!binder.problem.empty()) {
      return Refusal{"bad_argument", node.op + " argument '" + arg.name + "': " + binder.problem};
    }
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i]) continue;
    const c10::Argument& argument = schema.arguments()[i];
    if (argument.default_value()) {
      op.template_[i] = *argument.default_value();
    } else if (argument.type()->kind() != c10::TypeKind::OptionalType) {
      return Refusal{"missing_argument", node.op + " needs argument '" + argument.name() + "'"};
    }
  }
  return op;
}

std::int64_t AtenOp::value_of(const SymbolSlot& slot, std::span<const std::int64_t> values) const {
  return slot.symbol >= 0 ? values[static_cast<std::size_t>(slot.symbol)]
                          : syms_->evaluate(slot.expression, values);
}

void AtenOp::fill_symbols(std::span<const std::int64_t> symbol_values) {
  for (const SymbolSlot& slot : symbol_slots_) {
    const std::int64_t value = value_of(slot, symbol_values);
    c10::IValue& target = template_[static_cast<std::size_t>(slot.position)];
    switch (slot.kind) {
      case SymbolSlot::Kind::kInt:
        target = value;
        break;
      case SymbolSlot::Kind::kDouble:
        target = static_cast<double>(value);
        break;
      case SymbolSlot::Kind::kTensor:
        target = wrapped_number(c10::Scalar(value));
        break;
    }
  }
  for (const SymbolSlot& slot : symbol_list_slots_) {
    // The stack's copy of the last call is gone, so the list is this op's alone.
    c10::List<std::int64_t> list = template_[static_cast<std::size_t>(slot.position)].toIntList();
    list.set(static_cast<std::size_t>(slot.element), value_of(slot, symbol_values));
  }
}

c10::IValue AtenOp::list_value(const ListSlot& slot, std::vector<at::Tensor> tensors) {
  if (!slot.optional_elements) return c10::IValue(c10::List<at::Tensor>(std::move(tensors)));
  c10::List<std::optional<at::Tensor>> list;
  list.reserve(tensors.size());
  for (at::Tensor& tensor : tensors) {
    if (tensor.defined()) {
      list.push_back(std::move(tensor));
    } else {
      list.push_back(std::nullopt);
    }
  }
  return c10::IValue(std::move(list));
}

Result<bool> AtenOp::take_outputs(torch::jit::Stack& stack,
                                  std::vector<at::Tensor>& outputs) const {
  outputs.clear();
  for (c10::IValue& value : stack) {
    if (value.isTensor()) {
      outputs.push_back(std::move(value).toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) outputs.push_back(tensor);
    } else {
      return Refusal{"unsupported_output", name_ + " returned something that is no tensor"};
    }
  }
  stack.clear();
  if (outputs.size() != output_count_) {
    return Refusal{"output_count", name_ + " returned " + std::to_string(outputs.size()) +
                                       " tensors, the graph has " + std::to_string(output_count_)};
  }
  return true;
}

}  // namespace breakeven
