#include "compiler/ir/graph.h"

#include <bit>
#include <type_traits>
#include <utility>

#include "compiler/ir/op_table.h"
#include "compiler/support/check.h"

namespace breakeven {
namespace {

void append_raw(std::string& key, std::uint64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void append_text(std::string& key, std::string_view text) {
  append_raw(key, text.size());
  key += text;
}

template <typename T>
void append_item(std::string& key, const T& item) {
  if constexpr (std::is_same_v<T, ValueId>) {
    append_raw(key, static_cast<std::uint64_t>(item.index));
  } else if constexpr (std::is_same_v<T, Sym>) {
    append_raw(key, static_cast<std::uint64_t>(item.id));
  } else if constexpr (std::is_same_v<T, double>) {
    append_raw(key, std::bit_cast<std::uint64_t>(item));  // -0.0 and 0.0 are different scalars.
  } else if constexpr (std::is_same_v<T, std::string>) {
    append_text(key, item);
  } else {
    append_raw(key, static_cast<std::uint64_t>(item));
  }
}

void append_arg(std::string& key, const Arg& arg) {
  append_text(key, arg.name);
  key += static_cast<char>(arg.value.index());
  std::visit(
      [&key](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return;
        } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
          append_raw(key, value.size());
          for (const bool item : value) key += item ? '1' : '0';
        } else if constexpr (std::is_same_v<T, std::vector<ValueId>> ||
                             std::is_same_v<T, std::vector<Sym>> ||
                             std::is_same_v<T, std::vector<double>>) {
          append_raw(key, value.size());
          for (const auto& item : value) append_item(key, item);
        } else {
          append_item(key, value);
        }
      },
      arg.value);
}

void append_type(std::string& key, const TensorType& type) {
  append_raw(key, static_cast<std::uint64_t>(type.dtype));
  append_raw(key, type.sizes.size());
  for (const Sym size : type.sizes) append_item(key, size);
}

std::string key_of_op(std::string_view op, const std::vector<Arg>& args,
                      const std::vector<TensorType>& types) {
  std::string key;
  append_text(key, op);
  for (const Arg& arg : args) append_arg(key, arg);
  key += '>';
  for (const TensorType& type : types) append_type(key, type);
  return key;
}

std::string key_of_literal(const HostTensor& literal) {
  std::string key = "\x01literal";
  append_raw(key, static_cast<std::uint64_t>(literal.dtype));
  append_raw(key, literal.sizes.size());
  for (const std::int64_t size : literal.sizes) append_raw(key, static_cast<std::uint64_t>(size));
  key.append(literal.as<char>(), static_cast<std::size_t>(literal.byte_count()));
  return key;
}

}  // namespace

Graph::Graph() = default;

Graph::Graph(std::string name) : name(std::move(name)) {}

ValueId Graph::add_value(std::int32_t node, std::int32_t output, TensorType type) {
  values_.push_back({node, output, std::move(type)});
  const ValueId id{static_cast<std::int32_t>(values_.size()) - 1};
  nodes_[static_cast<std::size_t>(node)].outputs.push_back(id);
  return id;
}

ValueId Graph::add_input(std::string input_name, TensorType type) {
  Node node;
  node.kind = NodeKind::kInput;
  node.name = std::move(input_name);
  nodes_.push_back(std::move(node));
  const ValueId id = add_value(static_cast<std::int32_t>(nodes_.size()) - 1, 0, std::move(type));
  inputs_.push_back(id);
  return id;
}

ValueId Graph::add_weight(std::string weight_name, TensorType type, WeightInit init) {
  Node node;
  node.kind = NodeKind::kWeight;
  node.name = std::move(weight_name);
  node.init = init;
  nodes_.push_back(std::move(node));
  return add_value(static_cast<std::int32_t>(nodes_.size()) - 1, 0, std::move(type));
}

ValueId Graph::add_constant(HostTensor literal) {
  BE_CHECK(literal.is_contiguous(), "a constant's literal must be contiguous");
  const auto [place, inserted] =
      pure_nodes_.try_emplace(key_of_literal(literal), static_cast<std::int32_t>(nodes_.size()));
  if (!inserted) return nodes_[static_cast<std::size_t>(place->second)].outputs.front();
  TensorType type{literal.dtype, {}};
  for (const std::int64_t size : literal.sizes) type.sizes.push_back(syms.constant(size));
  Node node;
  node.kind = NodeKind::kConstant;
  node.literal = std::move(literal);
  nodes_.push_back(std::move(node));
  return add_value(static_cast<std::int32_t>(nodes_.size()) - 1, 0, std::move(type));
}

std::vector<ValueId> Graph::add_op(std::string op, std::vector<Arg> args,
                                   std::vector<TensorType> output_types, std::string op_name) {
  BE_CHECK(!output_types.empty(), op << " has no output");
  const OpRow* row = find_op(op);
  if (row != nullptr && row->pure) {
    const auto [place, inserted] = pure_nodes_.try_emplace(
        key_of_op(op, args, output_types), static_cast<std::int32_t>(nodes_.size()));
    if (!inserted) return nodes_[static_cast<std::size_t>(place->second)].outputs;
  }
  Node node;
  node.kind = NodeKind::kOp;
  node.op = std::move(op);
  node.name = std::move(op_name);
  node.args = std::move(args);
  for_each_operand(node, [this](ValueId id) {
    BE_CHECK(static_cast<std::size_t>(id.index) < values_.size(), "operand of another graph");
  });
  nodes_.push_back(std::move(node));
  const auto index = static_cast<std::int32_t>(nodes_.size()) - 1;
  for (std::size_t i = 0; i < output_types.size(); ++i) {
    add_value(index, static_cast<std::int32_t>(i), std::move(output_types[i]));
  }
  return nodes_.back().outputs;
}

const ArgValue* find_arg(const Node& node, std::string_view name) {
  for (const Arg& arg : node.args) {
    if (arg.name == name) return &arg.value;
  }
  return nullptr;
}

void for_each_operand(const Node& node, const std::function<void(ValueId)>& fn) {
  for (const Arg& arg : node.args) {
    if (const auto* id = std::get_if<ValueId>(&arg.value)) {
      fn(*id);
    } else if (const auto* ids = std::get_if<std::vector<ValueId>>(&arg.value)) {
      for (const ValueId item : *ids) {
        if (item.valid()) fn(item);
      }
    }
  }
}

std::vector<ValueId> operands_of(const Node& node) {
  std::vector<ValueId> operands;
  for_each_operand(node, [&](ValueId id) { operands.push_back(id); });
  return operands;
}

std::vector<int> count_uses(const Graph& graph) {
  std::vector<int> uses(graph.values().size(), 0);
  for (const Node& node : graph.nodes()) {
    for_each_operand(node, [&](ValueId id) { ++uses[static_cast<std::size_t>(id.index)]; });
  }
  for (const ValueId id : graph.outputs()) ++uses[static_cast<std::size_t>(id.index)];
  return uses;
}

}  // namespace breakeven
