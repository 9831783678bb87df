#include "reports/decide/policy.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "compiler/support/error.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

using nlohmann::json;

/// One key: its range and where its value goes.
struct Key {
  const char* name;
  double min, max;
  std::function<void(double)> set;
};

[[noreturn]] void fail(const std::string& name, std::string message, std::string value,
                       std::string fix) {
  throw UserError({.file = name,
                   .message = std::move(message),
                   .value = std::move(value),
                   .fix = std::move(fix)});
}

std::vector<Key> keys_of(Policy& policy) {
  return {
      {"min_processes", 1, 1000, [&](double v) { policy.min_processes = static_cast<int>(v); }},
      {"min_speedup", 0, 1000, [&](double v) { policy.min_speedup = v; }},
      {"max_break_even_life_share", 0, 1, [&](double v) { policy.max_break_even_life_share = v; }},
      {"p99_headroom", 0, 0.99, [&](double v) { policy.p99_headroom = v; }},
      {"max_p99_ratio", 0, 1000, [&](double v) { policy.max_p99_ratio = v; }},
      {"max_fallback_share", 0, 1, [&](double v) { policy.max_fallback_share = v; }},
      {"max_accuracy_ratio", 0, 1, [&](double v) { policy.max_accuracy_ratio = v; }},
      {"max_cold_start_ms", 0, 1e9, [&](double v) { policy.max_cold_start_ms = v; }},
      {"max_payback_days", 0, 1e6, [&](double v) { policy.max_payback_days = v; }},
  };
}

std::string text_member(const json& value, const std::string& key, const std::string& name) {
  if (!value.is_string()) fail(name, "\"" + key + "\" must be text", value.dump(), "Quote it");
  return value.get<std::string>();
}

void read_key(const std::string& key, const json& value, const std::vector<Key>& keys,
              const std::string& name) {
  std::vector<std::string> known = {"policy", "name", "description"};
  for (const Key& entry : keys) {
    known.push_back(entry.name);
    if (key != entry.name) continue;
    const bool whole = key == "min_processes";
    if (!value.is_number() || (whole && !value.is_number_integer())) {
      fail(name, "\"" + key + "\" must be a " + (whole ? "whole number" : "number"),
           printable(value.dump(), 80), "Give a number");
    }
    const double figure = value.get<double>();
    if (!(figure >= entry.min && figure <= entry.max)) {
      fail(name, "\"" + key + "\" is out of range", format_double(figure),
           "Choose from " + format_double(entry.min) + " to " + format_double(entry.max));
    }
    entry.set(figure);
    return;
  }
  const std::string near = nearest_word(key, known);
  fail(name, "unknown policy key", "\"" + key + "\"",
       near.empty() ? "Known keys: " + join(known, ", ") : "Did you mean \"" + near + "\"?");
}

}  // namespace

Policy parse_policy(std::string_view text, const std::string& name) {
  Policy policy;
  if (text.empty()) return policy;
  const json root = json::parse(text, nullptr, false);
  if (!root.is_object())
    fail(name, "the policy is not a JSON object", "", "See scenarios/policies");
  if (!root.contains("policy") || root["policy"] != 1) {
    fail(name, "\"policy\" must be 1, the version this program reads",
         root.contains("policy") ? printable(root["policy"].dump(), 80) : "",
         "Write \"policy\": 1");
  }
  const std::vector<Key> keys = keys_of(policy);
  for (const auto& [key, value] : root.items()) {
    if (key == "policy") continue;
    if (key == "name") {
      policy.name = text_member(value, key, name);
    } else if (key == "description") {
      policy.description = text_member(value, key, name);
    } else {
      read_key(key, value, keys, name);
    }
  }
  return policy;
}

}  // namespace breakeven
