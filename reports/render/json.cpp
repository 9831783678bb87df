#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/render/metrics.h"
#include "reports/render/render.h"

namespace breakeven {
namespace {

using nlohmann::ordered_json;

ordered_json finite(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json optional(const std::optional<double>& value) {
  return value ? finite(*value) : ordered_json(nullptr);
}

ordered_json to_json(const Number& number) {
  ordered_json json;
  json["value"] = optional(number.value);
  json["lo"] = optional(number.lo);
  json["hi"] = optional(number.hi);
  json["unit"] = number.unit;
  json["origin"] = name_of(number.origin);
  json["samples"] = number.samples;
  json["processes"] = number.processes;
  json["interval"] = number.interval;
  json["missing"] = !number.value && number.missing.empty() ? "not measured" : number.missing;
  return json;
}

ordered_json to_json(const std::vector<StageTime>& stages) {
  ordered_json list = ordered_json::array();
  for (const StageTime& stage : stages) {
    list.push_back({{"name", stage.name}, {"ms", static_cast<double>(stage.ns) * 1e-6}});
  }
  return list;
}

ordered_json to_json(const BreakEvenSummary& summary) {
  ordered_json json;
  for (const BreakEvenMetric& metric : break_even_metrics()) {
    json[metric.key] = to_json(summary.*metric.member);
  }
  json["never"] = summary.never;
  json["curve"] = ordered_json::array();
  for (const auto& point : summary.curve) {
    json["curve"].push_back({{"requests", finite(point.requests)},
                             {"saving_s", finite(point.saving_s)},
                             {"lo_s", finite(point.lo_s)},
                             {"hi_s", finite(point.hi_s)}});
  }
  return json;
}

ordered_json compiles_of(const ArmSummary& arm) {
  ordered_json list = ordered_json::array();
  for (const CompileRecord& record : arm.compiles) {
    list.push_back({{"trigger", record.trigger},
                    {"at_ms", static_cast<double>(record.at_ns) * 1e-6},
                    {"duration_ms", static_cast<double>(record.duration_ns) * 1e-6},
                    {"request", record.request},
                    {"shape", record.shape},
                    {"failed_guard", record.failed_guard},
                    {"origin", record.origin},
                    {"kernels", record.kernels},
                    {"compiled", record.compiled},
                    {"from_memory", record.from_memory},
                    {"from_disk", record.from_disk},
                    {"misses", record.misses}});
  }
  return list;
}

ordered_json to_json(const ArmSummary& arm) {
  ordered_json json;
  json["arm"] = arm.arm;
  json["usable"] = arm.usable;
  json["unusable_reason"] = arm.unusable_reason;
  for (const ArmMetric& metric : arm_metrics()) json[metric.key] = to_json(arm.*metric.member);
  json["break_even"] = {{"cache_lost", to_json(arm.cache_lost)},
                        {"cache_kept", to_json(arm.cache_kept)}};
  json["p99_split"] = ordered_json::object();
  for (const SplitPart& part : arm.p99_split) json["p99_split"][part.part] = to_json(part.share);
  json["cold_stages"] = to_json(arm.cold_stages);
  json["warm_stages"] = to_json(arm.warm_stages);
  json["latency_quantiles"] = ordered_json::array();
  for (const auto& [q, ms] : arm.latency_quantiles) {
    json["latency_quantiles"].push_back({{"quantile", finite(q)}, {"ms", finite(ms)}});
  }
  json["compiles"] = compiles_of(arm);
  json["fallbacks"] = ordered_json::array();
  for (const FallbackRecord& fallback : arm.fallbacks) {
    json["fallbacks"].push_back({{"what", fallback.what},
                                 {"reason", fallback.reason},
                                 {"count", fallback.count},
                                 {"whole_request", fallback.whole_request}});
  }
  json["warnings"] = arm.warnings;
  return json;
}

ordered_json reasons_of(const Decision& decision) {
  ordered_json list = ordered_json::array();
  for (const Reason& reason : decision.reasons) {
    ordered_json numbers = ordered_json::object();
    for (const auto& [name, number] : reason.numbers) numbers[name] = to_json(number);
    list.push_back({{"rule", reason.rule}, {"sentence", reason.sentence}, {"numbers", numbers}});
  }
  return list;
}

ordered_json flips_of(const Decision& decision) {
  ordered_json list = ordered_json::array();
  for (const Flip& flip : decision.flips) {
    list.push_back({{"input", flip.input},
                    {"current", finite(flip.current)},
                    {"at", optional(flip.at)},
                    {"searched_lo", finite(flip.searched_lo)},
                    {"searched_hi", finite(flip.searched_hi)},
                    {"becomes", name_of(flip.becomes)},
                    {"origin", name_of(Origin::kModelled)},
                    {"sentence", flip.sentence}});
  }
  return list;
}

ordered_json accuracy_of(const Results& results) {
  ordered_json list = ordered_json::array();
  for (const AccuracyRecord& record : results.accuracy) {
    list.push_back({{"arm", record.arm},
                    {"shape", record.shape},
                    {"eager_deterministic", record.eager_deterministic},
                    {"rmse_eager", finite(record.rmse_eager)},
                    {"rmse_arm", finite(record.rmse_arm)},
                    {"limit", finite(record.limit)},
                    {"masks_equal", record.masks_equal},
                    {"ok", record.ok}});
  }
  return list;
}

ordered_json scenario_of(const Results& results) {
  ordered_json json;
  json["name"] = results.scenario_name;
  json["question"] = results.scenario_question;
  json["hash"] = results.scenario_hash;
  ordered_json given = ordered_json::object();
  for (const Given& one : givens_of(results)) {
    given[one.key] = to_json(one.number);
    given[one.key]["source"] = one.source;
  }
  json["given"] = given;
  json["cache_survives_restart"] = results.cache_survives_restart;
  json["shape_order"] = results.shape_order;
  const ordered_json parsed = ordered_json::parse(results.scenario_json, nullptr, false);
  json["configuration"] = parsed.is_discarded() ? ordered_json(results.scenario_json) : parsed;
  return json;
}

}  // namespace

std::string render_json(const Results& results, const Decision& decision) {
  ordered_json root;
  root["format"] = "breakeven-report";
  root["version"] = 1;
  root["verdict"] = name_of(decision.verdict);
  root["arm"] = decision.arm;
  root["headline"] = decision.headline;
  root["policy"] = decision.policy;
  root["quick"] = results.quick;
  root["interrupted"] = results.interrupted;
  root["limits"] = decision.limits;
  root["next"] = decision.next;
  root["reasons"] = reasons_of(decision);
  root["requests_per_life"] = to_json(decision.requests_per_life);
  root["break_even"] = nullptr;
  if (!decision.arms.empty()) {
    const ArmSummary& leading = decision.arms[leading_arm(decision)];
    root["break_even"] = {
        {"arm", leading.arm},
        {"cache", results.cache_survives_restart ? "kept" : "lost"},
        {"requests",
         to_json(
             (results.cache_survives_restart ? leading.cache_kept : leading.cache_lost).requests)}};
  }
  root["flips"] = flips_of(decision);
  root["arms"] = ordered_json::array();
  for (const ArmSummary& arm : decision.arms) root["arms"].push_back(to_json(arm));
  root["accuracy"] = accuracy_of(results);
  root["scenario"] = scenario_of(results);
  root["provenance"] = {
      {"created_at", results.created_at},       {"command", results.command},
      {"breakeven", results.version},           {"binary_hash", results.binary_hash},
      {"scenario_hash", results.scenario_hash}, {"environment", results.environment}};
  root["notes"] = decision.notes;
  // ASCII only: bidirectional and control characters come out as \u escapes, invalid UTF-8 as
  // U+FFFD.
  return root.dump(1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

namespace {

ordered_json object_schema(const ordered_json& properties) {
  ordered_json required = ordered_json::array();
  for (const auto& [key, value] : properties.items()) required.push_back(key);
  return {{"type", "object"}, {"required", required}, {"properties", properties}};
}

ordered_json list_of(const ordered_json& items) { return {{"type", "array"}, {"items", items}}; }

const ordered_json kText = {{"type", "string"}};
const ordered_json kBool = {{"type", "boolean"}};
const ordered_json kInteger = {{"type", "integer"}};
const ordered_json kMaybe = {{"type", {"number", "null"}}};
const ordered_json kNumber = {{"$ref", "#/$defs/number"}};

ordered_json break_even_schema() {
  ordered_json properties;
  for (const BreakEvenMetric& metric : break_even_metrics()) properties[metric.key] = kNumber;
  properties["never"] = kBool;
  properties["curve"] = list_of(object_schema(
      {{"requests", kMaybe}, {"saving_s", kMaybe}, {"lo_s", kMaybe}, {"hi_s", kMaybe}}));
  return object_schema(properties);
}

ordered_json arm_schema() {
  const ordered_json stages = list_of(object_schema({{"name", kText}, {"ms", kMaybe}}));
  ordered_json properties = {{"arm", kText}, {"usable", kBool}, {"unusable_reason", kText}};
  for (const ArmMetric& metric : arm_metrics()) properties[metric.key] = kNumber;
  properties["break_even"] = object_schema({{"cache_lost", {{"$ref", "#/$defs/break_even"}}},
                                            {"cache_kept", {{"$ref", "#/$defs/break_even"}}}});
  properties["p99_split"] = {{"type", "object"}, {"additionalProperties", kNumber}};
  properties["cold_stages"] = stages;
  properties["warm_stages"] = stages;
  properties["latency_quantiles"] = list_of(object_schema({{"quantile", kMaybe}, {"ms", kMaybe}}));
  properties["compiles"] = list_of(object_schema({{"trigger", kText},
                                                  {"at_ms", kMaybe},
                                                  {"duration_ms", kMaybe},
                                                  {"request", kInteger},
                                                  {"shape", kText},
                                                  {"failed_guard", kText},
                                                  {"origin", kText},
                                                  {"kernels", kInteger},
                                                  {"compiled", kInteger},
                                                  {"from_memory", kInteger},
                                                  {"from_disk", kInteger},
                                                  {"misses", list_of(kText)}}));
  properties["fallbacks"] = list_of(object_schema(
      {{"what", kText}, {"reason", kText}, {"count", kInteger}, {"whole_request", kBool}}));
  properties["warnings"] = list_of(kText);
  return object_schema(properties);
}

ordered_json number_schema() {
  ordered_json schema =
      object_schema({{"value", kMaybe},
                     {"lo", kMaybe},
                     {"hi", kMaybe},
                     {"unit", kText},
                     {"origin", {{"enum", {"measured", "modelled", "assumed", "given"}}}},
                     {"samples", kInteger},
                     {"processes", kInteger},
                     {"interval", kText},
                     {"missing", kText}});
  schema["description"] =
      "value null: missing says why. lo and hi: 95 % interval, null without one.";
  return schema;
}

}  // namespace

std::string report_schema() {
  const ordered_json verdict = {
      {"enum", {"enable", "enable_with_limits", "keep_eager", "not_enough_data", "blocked"}}};
  const ordered_json numbers = {{"type", "object"}, {"additionalProperties", kNumber}};
  ordered_json root;
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = "breakeven report.json, version 1";
  root.update(object_schema(
      {{"format", {{"const", "breakeven-report"}}},
       {"version", {{"const", 1}}},
       {"verdict", verdict},
       {"arm", kText},
       {"headline", kText},
       {"policy", kText},
       {"quick", kBool},
       {"interrupted", kBool},
       {"limits", list_of(kText)},
       {"next", list_of(kText)},
       {"reasons",
        list_of(object_schema({{"rule", kText}, {"sentence", kText}, {"numbers", numbers}}))},
       {"requests_per_life", kNumber},
       {"break_even",
        object_schema(
            {{"arm", kText}, {"cache", {{"enum", {"lost", "kept"}}}}, {"requests", kNumber}})},
       {"flips", list_of(object_schema({{"input", kText},
                                        {"current", kMaybe},
                                        {"at", kMaybe},
                                        {"searched_lo", kMaybe},
                                        {"searched_hi", kMaybe},
                                        {"becomes", verdict},
                                        {"origin", kText},
                                        {"sentence", kText}}))},
       {"arms", list_of({{"$ref", "#/$defs/arm"}})},
       {"accuracy", list_of(object_schema({{"arm", kText},
                                           {"shape", kText},
                                           {"eager_deterministic", kBool},
                                           {"rmse_eager", kMaybe},
                                           {"rmse_arm", kMaybe},
                                           {"limit", kMaybe},
                                           {"masks_equal", kBool},
                                           {"ok", kBool}}))},
       {"scenario", object_schema({{"name", kText},
                                   {"question", kText},
                                   {"hash", kText},
                                   {"given", numbers},
                                   {"cache_survives_restart", kBool},
                                   {"shape_order", kText},
                                   {"configuration", ordered_json::object()}})},
       {"provenance",
        object_schema({{"created_at", kText},
                       {"command", kText},
                       {"breakeven", kText},
                       {"binary_hash", kText},
                       {"scenario_hash", kText},
                       {"environment", {{"type", "object"}, {"additionalProperties", kText}}}})},
       {"notes", list_of(kText)}}));
  root["$defs"] = {
      {"number", number_schema()}, {"break_even", break_even_schema()}, {"arm", arm_schema()}};
  return root.dump(2) + "\n";
}

}  // namespace breakeven
