#include <ATen/core/ivalue.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "compiler/support/text.h"
#include "compiler/torch/pt2_graph.h"
#include "compiler/torch/pt2_schema.h"

namespace breakeven {
namespace {

/// Whether leaving `value` out means the same: the schema's default is equal to it.
bool is_default(const SymContext& syms, const ArgValue& value, const c10::Argument& argument) {
  if (!argument.default_value()) return false;
  const c10::IValue& standard = *argument.default_value();
  if (std::holds_alternative<std::monostate>(value)) return standard.isNone();
  if (const auto* flag = std::get_if<bool>(&value)) {
    return standard.isBool() && standard.toBool() == *flag;
  }
  if (const auto* sym = std::get_if<Sym>(&value)) {
    const auto constant = syms.as_constant(*sym);
    return constant && standard.isInt() && standard.toInt() == *constant;
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return standard.isDouble() && standard.toDouble() == *real;
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return standard.isString() && standard.toStringRef() == *text;
  }
  return false;
}

}  // namespace

ValueId Pt2GraphReader::value_of(const std::string& name, const std::string& place) {
  const auto found = values_.find(owner_of(name));
  if (found == values_.end()) {
    refuse(place, "uses a tensor that nothing before it produces", printable(name, 80),
           "Export the model again.");
  }
  return found->second;
}

ArgValue Pt2GraphReader::optional_tensor(const nlohmann::json& argument, const std::string& place) {
  if (!argument.contains("as_tensor")) return std::monostate{};
  const auto name = argument.at("as_tensor").at("name").get<std::string>();
  if (name.empty()) return std::monostate{};
  return value_of(name, place);
}

std::vector<ValueId> Pt2GraphReader::tensor_list(bool all_present, const nlohmann::json& items,
                                                 const std::string& place) {
  std::vector<ValueId> ids;
  for (const auto& item : items) {
    if (all_present) {
      ids.push_back(value_of(item.at("name").get<std::string>(), place));
      continue;
    }
    const ArgValue id = optional_tensor(item, place);
    ids.push_back(std::holds_alternative<ValueId>(id) ? std::get<ValueId>(id) : ValueId{});
  }
  return ids;
}

ArgValue Pt2GraphReader::argument_of(const nlohmann::json& argument, const std::string& place) {
  if (!argument.is_object() || argument.size() != 1) {
    refuse(place, "has a malformed argument", printable(argument.dump(), 80),
           "Export the model again.");
  }
  SymContext& syms = model_.graph.syms;
  const std::string& kind = argument.begin().key();
  const nlohmann::json& value = argument.begin().value();
  if (kind == "as_none") return std::monostate{};
  if (kind == "as_tensor" || kind == "as_optional_tensor") {
    return optional_tensor(kind == "as_tensor" ? argument : value, place);
  }
  if (kind == "as_tensors" || kind == "as_optional_tensors") {
    return tensor_list(kind == "as_tensors", value, place);
  }
  if (kind == "as_int") return syms.constant(value.get<std::int64_t>());
  if (kind == "as_ints") {
    std::vector<Sym> items;
    for (const auto& item : value) items.push_back(syms.constant(item.get<std::int64_t>()));
    return items;
  }
  if (kind == "as_sym_int") return sym_of_argument(value);
  if (kind == "as_sym_ints") {
    std::vector<Sym> items;
    for (const auto& item : value) items.push_back(sym_of_argument(item));
    return items;
  }
  if (kind == "as_float") return float_of_export(value);
  if (kind == "as_sym_float" && value.contains("as_float")) {
    return float_of_export(value.at("as_float"));
  }
  if (kind == "as_floats") {
    std::vector<double> items;
    for (const auto& item : value) items.push_back(float_of_export(item));
    return items;
  }
  if (kind == "as_bool") return value.get<bool>();
  if (kind == "as_sym_bool" && value.contains("as_bool")) return value.at("as_bool").get<bool>();
  if (kind == "as_bools") return value.get<std::vector<bool>>();
  if (kind == "as_string") return value.get<std::string>();
  if (kind == "as_scalar_type") {
    if (const auto dtype = dtype_of_export(value.get<std::int64_t>())) return *dtype;
  }
  if (kind == "as_layout") {
    if (auto layout = layout_of_export(value.get<std::int64_t>())) return std::move(*layout);
  }
  if (kind == "as_memory_format") {
    if (auto format = memory_format_of_export(value.get<std::int64_t>())) return std::move(*format);
  }
  if (kind == "as_device" && value.at("type").get<std::string>() == "cpu")
    return std::string("cpu");
  refuse(place, "has an argument of a kind that is not supported",
         printable(kind + " " + value.dump(), 100),
         "Rewrite that call in the model, or leave the model to PyTorch.");
}

std::vector<Arg> Pt2GraphReader::arguments_of(const nlohmann::json& node,
                                              const c10::FunctionSchema& schema,
                                              const std::string& place) {
  std::vector<std::optional<ArgValue>> by_position(schema.arguments().size());
  for (const auto& input : node.at("inputs")) {
    const auto name = input.at("name").get<std::string>();
    const auto position = schema.argumentIndexWithName(name);
    if (!position) {
      refuse(place, "has an argument that the operator does not take", printable(name, 60),
             "Export the model again with torch 2.11.");
    }
    by_position[static_cast<std::size_t>(*position)] = argument_of(input.at("arg"), place);
  }
  std::vector<Arg> args;
  for (std::size_t i = 0; i < by_position.size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (!by_position[i] || is_default(model_.graph.syms, *by_position[i], argument)) continue;
    args.push_back({argument.name(), std::move(*by_position[i])});
  }
  return args;
}

}  // namespace breakeven
