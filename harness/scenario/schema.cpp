#include <cmath>
#include <nlohmann/json.hpp>

#include "harness/scenario/keys.h"
#include "harness/scenario/scenario.h"

namespace breakeven {
namespace {

using Json = nlohmann::ordered_json;
using T = KeyType;

Json number(double value) {
  if (value == std::floor(value) && std::fabs(value) < 9.1e15) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json object_schema(const ObjectKeys& keys);

Json text_schema(const Key& key) {
  Json schema = {{"type", "string"}};
  if (!key.one_of.empty()) {
    schema["enum"] = key.one_of;
    return schema;
  }
  if (key.required) schema["minLength"] = 1;
  schema["maxLength"] = kMaxStringLength;
  return schema;
}

Json list_schema(const Key& key, Json items) {
  Json schema = {{"type", "array"}, {"items", std::move(items)}};
  if (key.min_items > 0) schema["minItems"] = key.min_items;
  schema["maxItems"] = key.max_items;
  if (key.unique_items) schema["uniqueItems"] = true;
  return schema;
}

Json map_schema(const Key& key) {
  if (key.type == T::kTextMap) {
    return {{"type", "object"},
            {"additionalProperties", {{"type", "string"}}},
            {"maxProperties", key.max_items}};
  }
  return {{"type", "object"},
          {"patternProperties",
           {{"^//", {{"type", "string"}}}, {kIdentifierPattern, object_schema(*key.object)}}},
          {"additionalProperties", false}};
}

Json size_schema() {
  return {{"anyOf",
           {{{"type", "string"}, {"pattern", kIdentifierPattern}},
            {{"type", "integer"}, {"minimum", 1}, {"maximum", 1000000000}}}}};
}

Json value_schema(const Key& key) {
  switch (key.type) {
    case T::kString:
      return text_schema(key);
    case T::kInteger:
    case T::kNumber: {
      Json schema = {{"type", key.type == T::kInteger ? "integer" : "number"}};
      if (std::isfinite(key.min))
        schema[key.above_min ? "exclusiveMinimum" : "minimum"] = number(key.min);
      if (std::isfinite(key.max)) schema["maximum"] = number(key.max);
      return schema;
    }
    case T::kBoolean:
      return {{"type", "boolean"}};
    case T::kSize:
      return size_schema();
    case T::kObject:
      return object_schema(*key.object);
    case T::kMap:
    case T::kTextMap:
      return map_schema(key);
    case T::kStringList:
      return list_schema(key, text_schema(key));
    case T::kSizeList:
      return list_schema(key, size_schema());
    case T::kObjectList:
      return list_schema(key, object_schema(*key.object));
  }
  return {};
}

Json keys_schema(const std::string& doc, const std::vector<Key>& keys,
                 const std::string& discriminator, const std::string& value) {
  Json schema = {{"type", "object"}};
  if (!doc.empty()) schema["description"] = doc;
  Json required = Json::array();
  Json properties = Json::object();
  if (!discriminator.empty()) {
    properties[discriminator] = {{"const", value}};
    required.push_back(discriminator);
  }
  for (const Key& key : keys) {
    Json one = value_schema(key);
    if (!key.doc.empty()) one["description"] = key.doc;
    if (!key.initial.empty()) one["default"] = Json::parse(key.initial);
    properties[key.name] = std::move(one);
    if (key.required) required.push_back(key.name);
  }
  schema["properties"] = std::move(properties);
  schema["patternProperties"] = {{"^//", {{"type", "string"}}}};
  schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

Json object_schema(const ObjectKeys& keys) {
  if (keys.discriminator.empty()) return keys_schema(keys.doc, keys.keys, "", "");
  Json schema = {{"description", keys.doc}};
  Json choices = Json::array();
  for (const Variant& variant : keys.variants) {
    std::vector<Key> all = keys.keys;
    all.insert(all.end(), variant.keys.begin(), variant.keys.end());
    choices.push_back(keys_schema(variant.doc, all, keys.discriminator, variant.value));
  }
  schema["oneOf"] = std::move(choices);
  return schema;
}

}  // namespace

std::string scenario_schema() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "breakeven scenario, version 1"}};
  schema.update(object_schema(scenario_keys()));
  return schema.dump(2) + '\n';
}

}  // namespace breakeven
