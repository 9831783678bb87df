#include "tests/support/json_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace breakeven::testing {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == "null" && value.is_null();
}

class Validator {
 public:
  explicit Validator(const json& root) : root_(root) {}

  std::string check(const json& schema, const json& value, const std::string& at) const {
    static const std::set<std::string> kKnown = {
        "$schema", "$id",     "$defs",  "$ref",     "title",      "description",
        "type",    "enum",    "const",  "required", "properties", "additionalProperties",
        "items",   "minimum", "maximum"};
    for (const auto& [keyword, ignored] : schema.items()) {
      if (!kKnown.contains(keyword))
        return at + ": schema keyword " + keyword + " is not known here";
    }
    if (schema.contains("$ref")) {
      const std::string ref = schema["$ref"].get<std::string>();
      return check(root_.at(json::json_pointer(ref.substr(1))), value, at);
    }
    if (schema.contains("type") && !type_fits(schema["type"], value)) {
      return at + ": is not " + schema["type"].dump() + " but " + value.dump().substr(0, 60);
    }
    if (schema.contains("enum") && std::ranges::count(schema["enum"], value) == 0) {
      return at + ": not in " + schema["enum"].dump();
    }
    if (schema.contains("const") && schema["const"] != value) return at + ": not the constant";
    if (value.is_number() && schema.contains("minimum") && value < schema["minimum"]) {
      return at + ": below the minimum";
    }
    if (value.is_number() && schema.contains("maximum") && value > schema["maximum"]) {
      return at + ": above the maximum";
    }
    return value.is_object() ? check_object(schema, value, at) : check_array(schema, value, at);
  }

 private:
  static bool type_fits(const json& type, const json& value) {
    if (type.is_string()) return has_type(value, type.get<std::string>());
    return std::ranges::any_of(
        type, [&](const json& one) { return has_type(value, one.get<std::string>()); });
  }

  std::string check_object(const json& schema, const json& value, const std::string& at) const {
    for (const json& name : schema.value("required", json::array())) {
      if (!value.contains(name.get<std::string>())) return at + ": lacks " + name.dump();
    }
    const json properties = schema.value("properties", json::object());
    for (const auto& [key, member] : value.items()) {
      const json* rule = nullptr;
      if (properties.contains(key)) {
        rule = &properties[key];
      } else if (schema.contains("additionalProperties")) {
        rule = &schema["additionalProperties"];
        if (rule->is_boolean()) {
          if (!rule->get<bool>()) return at + ": does not allow " + key;
          continue;
        }
      }
      if (rule == nullptr) continue;
      std::string violation = check(*rule, member, at + "/" + key);
      if (!violation.empty()) return violation;
    }
    return "";
  }

  std::string check_array(const json& schema, const json& value, const std::string& at) const {
    if (!value.is_array() || !schema.contains("items")) return "";
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string violation = check(schema["items"], value[i], at + "/" + std::to_string(i));
      if (!violation.empty()) return violation;
    }
    return "";
  }

  const json& root_;
};

}  // namespace

std::string schema_violation(const std::string& schema, const std::string& document) {
  const json parsed = json::parse(schema);
  return Validator(parsed).check(parsed, json::parse(document), "");
}

}  // namespace breakeven::testing
