#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "reports/schema/fields.h"
#include "reports/schema/results.h"

namespace breakeven {
namespace {

using nlohmann::ordered_json;
using schema::Rule;

/// Describes a record's fields as JSON Schema properties.
class Describer {
 public:
  template <typename T>
  void operator()(std::string_view name, const T& member, const Rule& rule = {}) {
    properties_[std::string(name)] = describe(member, rule);
    required_.push_back(std::string(name));
  }

  ordered_json take() {
    return {{"type", "object"}, {"required", required_}, {"properties", properties_}};
  }

 private:
  static void add_range(ordered_json& type, const Rule& rule) {
    if (std::isfinite(rule.min)) type["minimum"] = rule.min;
    if (std::isfinite(rule.max)) type["maximum"] = rule.max;
  }
  static ordered_json describe(const std::string&, const Rule& rule) {
    ordered_json type = {{"type", "string"}};
    for (const std::string_view name : rule.one_of) type["enum"].push_back(name);
    return type;
  }
  static ordered_json describe(bool, const Rule&) { return {{"type", "boolean"}}; }
  static ordered_json describe(double, const Rule& rule) {
    ordered_json type = {{"type", {"number", "null"}}};
    add_range(type, rule);
    return type;
  }
  template <std::integral T>
  static ordered_json describe(T, const Rule& rule) {
    ordered_json type = {{"type", "integer"}};
    add_range(type, rule);
    return type;
  }
  template <typename T>
  static ordered_json describe(const std::optional<T>&, const Rule& rule) {
    ordered_json type = describe(T{}, rule);
    type["type"] = {type["type"], "null"};
    return type;
  }
  template <typename T>
  static ordered_json describe(const std::vector<T>&, const Rule& rule) {
    return {{"type", "array"}, {"items", describe(T{}, rule)}};
  }
  template <typename T>
  static ordered_json describe(const std::map<std::string, T>&, const Rule& rule) {
    return {{"type", "object"}, {"additionalProperties", describe(T{}, rule)}};
  }
  template <typename T>
    requires requires(Describer& d, const T& value) { schema::fields(d, value); }
  static ordered_json describe(const T& value, const Rule&) {
    Describer describer;
    schema::fields(describer, value);
    return describer.take();
  }

  ordered_json properties_ = ordered_json::object();
  std::vector<std::string> required_;
};

}  // namespace

std::string results_schema() {
  Describer describer;
  describer("format", std::string(), Rule{.one_of = {"breakeven-results"}});
  describer("version", kResultsVersion, Rule{.min = kResultsVersion, .max = kResultsVersion});
  describer("not_finite", std::vector<std::string>());
  const Results shape;
  schema::fields(describer, shape);
  ordered_json root;
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = "breakeven results.json, version " + std::to_string(kResultsVersion);
  root["description"] =
      "What one run measured. Fields that are not named here are allowed and ignored. A number "
      "that "
      "was not finite is null and listed in not_finite.";
  root.update(describer.take());
  return root.dump(2) + "\n";
}

}  // namespace breakeven
