#pragma once

#include <concepts>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reports/schema/results.h"

namespace breakeven::schema {

/// What a field's value must satisfy beside its type.
struct Rule {
  std::vector<std::string_view> one_of = {};  ///< For text; empty: anything.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

inline const Rule kNotNegative{.min = 0};
inline const Rule kShare{.min = 0, .max = 1};
inline const Rule kPhase{
    .one_of = {"priming", "accuracy", "cold", "warm_disk", "steady", "traffic"}};

template <typename S, typename T>
concept Like = std::same_as<std::remove_const_t<S>, T>;

// One description of each record serves the writer, the reader and the JSON Schema: a visitor is
// called as visit(name, member[, rule]) in the order of the file.

template <typename V>
void fields(V& visit, Like<StageTime> auto& s) {
  visit("name", s.name);
  visit("ns", s.ns, kNotNegative);
}

template <typename V>
void fields(V& visit, Like<CompileRecord> auto& s) {
  visit("trigger", s.trigger, Rule{.one_of = {"first", "recompile"}});
  visit("at_ns", s.at_ns);
  visit("duration_ns", s.duration_ns, kNotNegative);
  visit("request", s.request);
  visit("shape", s.shape);
  visit("failed_guard", s.failed_guard);
  visit("origin", s.origin);
  visit("kernels", s.kernels, kNotNegative);
  visit("compiled", s.compiled, kNotNegative);
  visit("from_memory", s.from_memory, kNotNegative);
  visit("from_disk", s.from_disk, kNotNegative);
  visit("misses", s.misses);
  visit("stages", s.stages);
}

template <typename V>
void fields(V& visit, Like<FallbackRecord> auto& s) {
  visit("what", s.what);
  visit("reason", s.reason);
  visit("count", s.count, kNotNegative);
  visit("whole_request", s.whole_request);
}

template <typename V>
void fields(V& visit, Like<GeneratorCheck> auto& s) {
  visit("asked_rate_per_s", s.asked_rate_per_s, kNotNegative);
  visit("achieved_rate_per_s", s.achieved_rate_per_s, kNotNegative);
  visit("late_share", s.late_share, kShare);
  visit("valid", s.valid);
  visit("reason", s.reason);
}

template <typename V>
void fields(V& visit, Like<Trial> auto& s) {
  visit("arm", s.arm);
  visit("phase", s.phase, kPhase);
  visit("process", s.process, kNotNegative);
  visit("order", s.order, kNotNegative);
  visit("seed", s.seed);
  visit("ok", s.ok);
  visit("failure", s.failure);
  visit("shapes", s.shapes);
  visit("stages", s.stages);
  visit("first_result_ns", s.first_result_ns, kNotNegative);
  visit("compiler_ns", s.compiler_ns, kNotNegative);
  visit("steady_after_requests", s.steady_after_requests, kNotNegative);
  visit("steady_after_ns", s.steady_after_ns, kNotNegative);
  visit("counters", s.counters);
  visit("compiles", s.compiles);
  visit("fallbacks", s.fallbacks);
  visit("generator", s.generator);
  visit("peak_rss_bytes", s.peak_rss_bytes, kNotNegative);
  visit("wall_ns", s.wall_ns, kNotNegative);
  visit("raw_file", s.raw_file);
  visit("raw_checksum", s.raw_checksum);
}

template <typename V>
void fields(V& visit, Like<AccuracyRecord> auto& s) {
  visit("arm", s.arm);
  visit("shape", s.shape);
  visit("eager_deterministic", s.eager_deterministic);
  visit("rmse_eager", s.rmse_eager, kNotNegative);
  visit("rmse_arm", s.rmse_arm, kNotNegative);
  visit("limit", s.limit, kNotNegative);
  visit("masks_equal", s.masks_equal);
  visit("ok", s.ok);
}

template <typename V>
void fields(V& visit, Like<ShapeClass> auto& s) {
  visit("shape", s.shape);
  visit("probability", s.probability, kShare);
}

template <typename V>
void fields(V& visit, Like<Results> auto& s) {
  visit("created_at", s.created_at);
  visit("command", s.command);
  visit("scenario_name", s.scenario_name);
  visit("scenario_question", s.scenario_question);
  visit("scenario_hash", s.scenario_hash);
  visit("binary_hash", s.binary_hash);
  visit("product_version", s.version);
  visit("scenario_json", s.scenario_json);
  visit("quick", s.quick);
  visit("interrupted", s.interrupted);
  visit("arms", s.arms);
  visit("rate_per_s", s.rate_per_s, kNotNegative);
  visit("rate_origin", s.rate_origin);
  visit("restarts_per_day", s.restarts_per_day, kNotNegative);
  visit("restarts_origin", s.restarts_origin);
  visit("cache_survives_restart", s.cache_survives_restart);
  visit("slo_p99_ms", s.slo_p99_ms, kNotNegative);
  visit("slo_source", s.slo_source);
  visit("usd_per_hour", s.usd_per_hour, kNotNegative);
  visit("price_device", s.price_device);
  visit("price_date", s.price_date);
  visit("price_source", s.price_source);
  visit("price_origin", s.price_origin);
  visit("engineer_days", s.engineer_days, kNotNegative);
  visit("usd_per_engineer_day", s.usd_per_engineer_day, kNotNegative);
  visit("shape_order", s.shape_order);
  visit("policy_json", s.policy_json);
  visit("shape_classes", s.shape_classes);
  visit("environment", s.environment);
  visit("trials", s.trials);
  visit("accuracy", s.accuracy);
}

}  // namespace breakeven::schema
