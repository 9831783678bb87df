#include "reports/decide/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "reports/decide/costs.h"
#include "reports/decide/instability.h"
#include "reports/decide/phrases.h"
#include "reports/model/p99_split.h"

namespace breakeven {
namespace {

std::uint64_t seed_of(const std::string& arm, std::uint64_t salt) {
  std::uint64_t seed = 0xcbf29ce484222325ULL + salt;
  for (const char c : arm) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return seed;
}

/// One figure of each good trial of a phase.
template <typename Figure>
std::vector<double> per_trial(const std::map<int, Observed>& phase, const Figure& figure) {
  std::vector<double> values;
  for (const auto& [process, observed] : phase) {
    const std::optional<double> value = figure(*observed.trial);
    if (value) values.push_back(*value);
  }
  return values;
}

std::optional<double> ms_of(const std::optional<std::int64_t>& ns) {
  return ns ? std::optional<double>(static_cast<double>(*ns) * 1e-6) : std::nullopt;
}

std::optional<double> counter_of(const Trial& trial, const std::string& name) {
  const auto found = trial.counters.find(name);
  if (found == trial.counters.end()) return std::nullopt;
  return static_cast<double>(found->second);
}

Number median_counter(const std::map<int, Observed>& phase, const std::string& name,
                      const std::string& unit, double scale = 1) {
  Number number = median_over_processes(
      per_trial(phase, [&](const Trial& trial) { return counter_of(trial, name); }), unit, 1,
      false);
  if (number.value) *number.value *= scale;
  if (!number.value) number.missing = "not measured: this arm does not count it";
  return number;
}

/// A share or rate of counts; exact, so it has no interval.
Number exact(double part, double whole, const std::string& unit, std::int64_t samples,
             std::size_t processes) {
  Number number = Number::ratio(part, whole, unit, Origin::kMeasured, samples);
  number.processes = static_cast<std::int64_t>(processes);
  if (!number.value) number.missing = "not enough data: no samples";
  return number;
}

void add_latency(const Results& results, const ArmEvidence& arm, bool intervals, ArmSummary& out) {
  const Groups groups = groups_of(arm.traffic, Measure::kLatency);
  constexpr std::array<double, 5> kQs = {0.5, 0.9, 0.95, 0.99, 0.999};
  const auto quantiles = pooled_quantiles(groups, kQs, "ms", seed_of(arm.arm, 1), intervals);
  out.p50_ms = quantiles[0];
  out.p90_ms = quantiles[1];
  out.p95_ms = quantiles[2];
  out.p99_ms = quantiles[3];
  out.p999_ms = quantiles[4];
  constexpr std::array<double, 1> kTail = {0.99};
  out.start_cold_p99_ms = pooled_quantiles(groups_of(arm.cold, Measure::kLatency, true), kTail,
                                           "ms", seed_of(arm.arm, 2), intervals)[0];
  out.start_warm_p99_ms = pooled_quantiles(groups_of(arm.warm_disk, Measure::kLatency, true), kTail,
                                           "ms", seed_of(arm.arm, 3), intervals)[0];
  std::vector<double> pool;
  for (const auto& group : groups) pool.insert(pool.end(), group.begin(), group.end());
  std::sort(pool.begin(), pool.end());
  for (int i = 1; i <= 199 && !pool.empty(); ++i) {
    const double q = i < 190 ? i / 200.0 : 0.95 + (i - 190) * 0.005;
    if (static_cast<std::int64_t>(pool.size()) < percentile_floor(q)) continue;
    out.latency_quantiles.emplace_back(q, quantile_sorted(pool, q));
  }
  if (results.slo_p99_ms > 0) {
    const auto within =
        std::upper_bound(pool.begin(), pool.end(), results.slo_p99_ms) - pool.begin();
    out.slo_share = exact(static_cast<double>(within), static_cast<double>(pool.size()), "share",
                          static_cast<std::int64_t>(pool.size()), groups.size());
  } else {
    out.slo_share = Number::none("share", "n/a: the scenario has no latency target");
  }
}

void add_service(const ArmEvidence& arm, bool intervals, ArmSummary& out) {
  const Groups groups = groups_of(arm.steady, Measure::kNetService);
  constexpr std::array<double, 1> kMedian = {0.5};
  out.service_p50_ms = pooled_quantiles(groups, kMedian, "ms", seed_of(arm.arm, 4), intervals)[0];
  out.mean_service_ms = pooled_mean(groups, "ms", seed_of(arm.arm, 5), intervals);
  const Number& mean = out.mean_service_ms;
  out.throughput_closed_loop_per_s =
      mean.value ? Number::ratio(1000, *mean.value, "1/s", Origin::kMeasured, mean.samples)
                 : Number::none("1/s", mean.missing);
  out.throughput_closed_loop_per_s.processes = mean.processes;
  if (out.throughput_closed_loop_per_s.value && mean.lo && mean.hi && *mean.lo > 0) {
    out.throughput_closed_loop_per_s.lo = 1000 / *mean.hi;
    out.throughput_closed_loop_per_s.hi = 1000 / *mean.lo;
    out.throughput_closed_loop_per_s.interval = mean.interval;
  }
  out.achieved_rate_per_s = median_over_processes(
      per_trial(arm.traffic,
                [](const Trial& trial) {
                  return trial.generator
                             ? std::optional<double>(trial.generator->achieved_rate_per_s)
                             : std::nullopt;
                }),
      "1/s", seed_of(arm.arm, 6), intervals);
}

Number steady_requests(const std::map<int, Observed>& phase, std::uint64_t seed, bool intervals) {
  std::vector<double> values;
  for (const auto& [process, observed] : phase) {
    if (!observed.trial->steady_after_requests) continue;
    values.push_back(static_cast<double>(*observed.trial->steady_after_requests));
  }
  if (values.size() < phase.size()) {
    return Number::none("requests",
                        "never steady within the cap in " +
                            std::to_string(phase.size() - values.size()) + " of " +
                            std::to_string(phase.size()) + " processes",
                        Origin::kMeasured, static_cast<std::int64_t>(values.size()));
  }
  return median_over_processes(values, "requests", seed, intervals);
}

/// Stages of the process whose start is the median, so that they add up to a start that happened.
std::vector<StageTime> median_stages(const std::map<int, Observed>& phase) {
  std::vector<const Trial*> trials;
  for (const auto& [process, observed] : phase) {
    if (observed.trial->first_result_ns) trials.push_back(observed.trial);
  }
  if (trials.empty()) return {};
  std::sort(trials.begin(), trials.end(), [](const Trial* a, const Trial* b) {
    return *a->first_result_ns < *b->first_result_ns;
  });
  return trials[(trials.size() - 1) / 2]->stages;
}

void add_starts(const ArmEvidence& arm, bool intervals, ArmSummary& out) {
  const auto first = [](const Trial& trial) { return ms_of(trial.first_result_ns); };
  const auto compiler = [](const Trial& trial) { return ms_of(trial.compiler_ns); };
  const auto median = [&](const std::map<int, Observed>& phase, const auto& figure,
                          std::uint64_t salt) {
    return median_over_processes(per_trial(phase, figure), "ms", seed_of(arm.arm, salt), intervals);
  };
  out.cold_start_ms = median(arm.cold, first, 7);
  out.warm_start_ms = median(arm.warm_disk, first, 8);
  out.compile_cold_ms = median(arm.cold, compiler, 9);
  out.compile_warm_ms = median(arm.warm_disk, compiler, 10);
  out.requests_to_steady = steady_requests(arm.cold, seed_of(arm.arm, 11), intervals);
  out.warm_requests_to_steady = steady_requests(arm.warm_disk, seed_of(arm.arm, 12), intervals);
  out.time_to_steady_ms =
      out.requests_to_steady.value
          ? median(
                arm.cold, [](const Trial& trial) { return ms_of(trial.steady_after_ns); }, 13)
          : Number::none("ms", out.requests_to_steady.missing);
  out.cold_stages = median_stages(arm.cold);
  out.warm_stages = median_stages(arm.warm_disk);
}

void add_recompiles(const ArmEvidence& arm, ArmSummary& out) {
  std::int64_t requests = 0, compiled = 0, stalled = 0, delayed = 0, failed = 0, fell_back = 0;
  std::vector<std::vector<RawSample>> trials;
  for (const auto& [process, observed] : arm.traffic) {
    const auto splits = split_latencies(observed.samples);
    for (std::size_t i = 0; i < observed.samples.size(); ++i) {
      const RawSample& sample = observed.samples[i];
      ++requests;
      compiled += sample.compile_ns > 0;
      stalled += has_stall(sample);
      const auto behind = splits[i][static_cast<std::size_t>(SlowPart::kQueueBehindStall)];
      delayed += has_stall(sample) || behind > 0;
      failed += is_failed(sample);
      fell_back += (sample.flags & kSampleFellBack) != 0;
    }
    trials.push_back(observed.samples);
  }
  const auto whole = static_cast<double>(requests);
  const auto share = [&](std::int64_t part, const char* unit, double scale = 1) {
    return exact(scale * static_cast<double>(part), whole, unit, requests, arm.traffic.size());
  };
  out.recompiles_per_1000 = share(compiled, "per 1,000 requests", 1000);
  out.delayed_share = share(delayed, "share");
  out.hit_rate = share(requests - stalled, "share");
  out.fallback_share = share(fell_back, "share");
  out.failed_share = share(failed, "share");
  const TailSplit tail = split_tail(trials, 0.99);
  out.p99_split_requests = tail.requests;
  for (std::size_t part = 0; part < kSlowParts; ++part) {
    Number number = requests >= percentile_floor(0.99)
                        ? Number::given(tail.share[part], "share", Origin::kMeasured)
                        : Number::none("share", out.p99_ms.missing);
    number.samples = tail.requests;
    out.p99_split.push_back({std::string(name_of(static_cast<SlowPart>(part))), number});
  }
}

void add_counters(const ArmEvidence& arm, ArmSummary& out) {
  out.kernels_per_request = median_counter(arm.traffic, "kernels_per_request", "kernels");
  out.extern_calls_per_request = median_counter(arm.traffic, "extern_calls_per_request", "calls");
  out.warmup_coverage = median_counter(arm.steady, "warmup_coverage_ppm", "share", 1e-6);
  out.peak_rss_mb = median_over_processes(
      per_trial(arm.traffic,
                [](const Trial& trial) {
                  return trial.peak_rss_bytes > 0
                             ? std::optional<double>(static_cast<double>(trial.peak_rss_bytes) /
                                                     (1024.0 * 1024.0))
                             : std::nullopt;
                }),
      "MiB", seed_of(arm.arm, 14));
  const auto log_of = [&](const std::map<int, Observed>& phase) {
    if (phase.empty()) return;
    const Trial& trial = *phase.begin()->second.trial;
    out.compiles.insert(out.compiles.end(), trial.compiles.begin(), trial.compiles.end());
    if (out.fallbacks.empty()) out.fallbacks = trial.fallbacks;
  };
  log_of(arm.cold);
  log_of(arm.traffic);
}

void add_accuracy(const Results& results, const ArmEvidence& arm, ArmSummary& out) {
  double worst = -1, covered = 0;
  bool finite = true;
  std::int64_t checked = 0;
  std::map<std::string, double> probability;
  for (const ShapeClass& shape : results.shape_classes)
    probability[shape.shape] = shape.probability;
  for (const AccuracyRecord& record : results.accuracy) {
    if (record.arm != arm.arm) continue;
    ++checked;
    covered += probability[record.shape];
    const double ratio = record.limit > 0       ? record.rmse_arm / record.limit
                         : record.rmse_arm == 0 ? 0
                                                : NAN;
    finite = finite && std::isfinite(ratio);
    if (std::isfinite(ratio)) worst = std::max(worst, ratio);
  }
  const bool is_baseline = arm.arm == results.arms.front();
  const std::string why = is_baseline ? "n/a: the baseline is what arms are compared with"
                                      : "not measured: no shape was checked";
  out.accuracy_worst_ratio = checked == 0 || is_baseline ? Number::none("ratio", why)
                             : !finite ? Number::none("ratio", "n/a: a result is not finite")
                                       : Number::given(worst, "ratio", Origin::kMeasured);
  out.accuracy_worst_ratio.samples = checked;
  out.accuracy_coverage = checked == 0 || is_baseline
                              ? Number::none("share", why)
                              : Number::given(std::min(covered, 1.0), "share", Origin::kMeasured);
  out.accuracy_coverage.samples = checked;
}

double speedup_statistic(const std::vector<double>& baseline, const std::vector<double>& arm) {
  return mean_of(baseline) / mean_of(arm);
}

double p99_ratio_statistic(const std::vector<double>& baseline, const std::vector<double>& arm) {
  return quantile(arm, 0.99) / quantile(baseline, 0.99);
}

/// Days until the daily saving has paid for adopting; `never` when a mean day saves nothing. The
/// interval is that of the saving.
Number payback_of(const Results& results, const ArmSummary& summary, bool& never) {
  never = false;
  const BreakEvenSummary& costs =
      results.cache_survives_restart ? summary.cache_kept : summary.cache_lost;
  const double cost = results.engineer_days * results.usd_per_engineer_day;
  if (cost <= 0)
    return Number::none("days", "n/a: the scenario names no engineering cost", Origin::kModelled);
  if (!costs.saving_per_life_usd.value) {
    return Number::none("days", costs.saving_per_life_usd.missing, Origin::kModelled);
  }
  const Number& life = costs.saving_per_life_usd;
  const auto days = [&](double saving) { return cost / (saving * results.restarts_per_day); };
  never = *life.value <= 0 || results.restarts_per_day <= 0;
  Number number = never ? Number::none("days", "never: a day saves no money", Origin::kModelled)
                        : Number::given(days(*life.value), "days", Origin::kModelled);
  number.samples = life.samples;
  number.processes = life.processes;
  if (results.restarts_per_day <= 0 || !life.hi || *life.hi <= 0) return number;
  number.lo = days(*life.hi);
  if (life.lo && *life.lo > 0) number.hi = days(*life.lo);
  number.interval = life.interval + (number.hi ? "" : "; no upper end");
  return number;
}

void add_comparison(const Results& results, const ArmEvidence& baseline, const ArmEvidence& arm,
                    const std::optional<double>& life, bool intervals, ArmSummary& out) {
  if (arm.arm == baseline.arm) {
    const char* why = "n/a: this is the baseline";
    out.speedup = out.p99_ratio = Number::none("ratio", why);
    CostModel none;
    none.missing = why;
    out.cache_lost = out.cache_kept = summarise_costs(none, results, life);
    out.payback_days = Number::none("days", why, Origin::kModelled);
    return;
  }
  const auto service = paired_groups(baseline.steady, arm.steady, Measure::kNetService);
  out.speedup = paired_statistic(service.first, service.second, "ratio", speedup_statistic,
                                 seed_of(arm.arm, 15), intervals);
  const auto latency = paired_groups(baseline.traffic, arm.traffic, Measure::kLatency);
  out.p99_ratio = out.p99_ms.value
                      ? paired_statistic(latency.first, latency.second, "ratio",
                                         p99_ratio_statistic, seed_of(arm.arm, 16), intervals)
                      : Number::none("ratio", out.p99_ms.missing);
  out.cache_lost =
      summarise_costs(cost_model(results, baseline, arm, false, intervals), results, life);
  out.cache_kept =
      summarise_costs(cost_model(results, baseline, arm, true, intervals), results, life);
  out.payback_days = payback_of(results, out, out.payback_never);
}

std::string generator_problem_of(const ArmEvidence& arm) {
  std::size_t bad = 0;
  std::string reason;
  for (const auto& [process, observed] : arm.traffic) {
    const auto& generator = observed.trial->generator;
    if (!generator || generator->valid) continue;
    ++bad;
    if (reason.empty()) reason = generator->reason;
  }
  // A minority of late processes is a warning; the pooled figures still stand on the others' order.
  return bad * 2 > arm.traffic.size() ? reason : "";
}

void add_warnings(const ArmEvidence& arm, ArmSummary& out) {
  for (const std::string& failure : arm.failures)
    out.warnings.push_back("failed trial: " + failure);
  for (const auto& [process, observed] : arm.traffic) {
    const auto& generator = observed.trial->generator;
    const std::string where = "process " + std::to_string(process) + ": ";
    if (generator && !generator->valid) {
      out.warnings.push_back(where + "load generator void: " + generator->reason);
    }
    std::vector<double> due, done;
    for (const RawSample& sample : observed.samples) {
      due.push_back(static_cast<double>(sample.due_ns) * 1e-9);
      done.push_back(static_cast<double>(sample.done_ns) * 1e-9);
    }
    if (const auto hint = saturation_hint(due, done)) out.warnings.push_back(where + *hint);
  }
  if (const std::string why = instability_of(arm); !why.empty()) {
    out.warnings.push_back("unstable: " + why);
  }
}

}  // namespace

ArmSummary summarise_arm(const Results& results, const ArmEvidence& baseline,
                         const ArmEvidence& arm, const std::optional<double>& life) {
  const bool intervals = !results.quick;
  ArmSummary out;
  out.arm = arm.arm;
  add_latency(results, arm, intervals, out);
  add_service(arm, intervals, out);
  add_starts(arm, intervals, out);
  add_recompiles(arm, out);
  add_counters(arm, out);
  add_accuracy(results, arm, out);
  add_comparison(results, baseline, arm, life, intervals, out);
  add_warnings(arm, out);
  out.usable = !arm.steady.empty() && !arm.traffic.empty();
  if (!out.usable) {
    out.unusable_reason = arm.failures.empty() ? "it was not measured" : arm.failures.front();
  }
  return out;
}

namespace {

std::string what_failed(const AccuracyRecord& record) {
  if (!record.masks_equal) return "NaN or infinity in other places than eager's";
  if (!record.ok && record.rmse_arm <= record.limit) {
    return "its outputs differ from eager's in number, type or size, or hold no finite value to "
           "compare";
  }
  return "error " + short_figure(record.rmse_arm) + " against a limit of " +
         short_figure(record.limit);
}

}  // namespace

ArmFacts facts_of(const Results& results, const ArmEvidence& baseline, const ArmEvidence& arm,
                  const ArmSummary& summary, const Policy& policy) {
  ArmFacts facts;
  facts.arm = arm.arm;
  if (!summary.usable && !arm.failures.empty()) facts.failure = arm.failures.front();
  const bool is_baseline = arm.arm == baseline.arm;
  for (const AccuracyRecord& record : results.accuracy) {
    if (is_baseline || record.arm != arm.arm) continue;
    if (record.ok && record.rmse_arm <= policy.max_accuracy_ratio * record.limit) continue;
    if (facts.accuracy_failure.empty()) {
      facts.accuracy_failure = record.shape + ": " + what_failed(record);
    }
  }
  facts.accuracy_checked = is_baseline || summary.accuracy_coverage.value.has_value();
  facts.processes = static_cast<int>(
      std::min({arm.cold.size(), arm.warm_disk.size(), arm.steady.size(), arm.traffic.size()}));
  facts.generator_problem = generator_problem_of(arm);
  facts.instability = instability_of(arm);
  facts.failed_share = summary.failed_share.value.value_or(0);
  facts.speedup = summary.speedup;
  const auto service = paired_groups(baseline.steady, arm.steady, Measure::kNetService);
  facts.all_slower = !is_baseline && !service.first.empty();
  for (std::size_t i = 0; i < service.first.size() && !is_baseline; ++i) {
    const double e = mean_of(service.first[i]), c = mean_of(service.second[i]);
    facts.signs_agree = facts.signs_agree && c < e;
    facts.all_slower = facts.all_slower && c > e;
  }
  facts.p99_ms = summary.p99_ms;
  facts.p99_ratio = summary.p99_ratio;
  facts.start_cold_p99_ms = summary.start_cold_p99_ms;
  facts.start_warm_p99_ms = summary.start_warm_p99_ms;
  facts.cold_start_ms = summary.cold_start_ms;
  facts.warm_start_ms = summary.warm_start_ms;
  facts.break_even_lost = summary.cache_lost.requests;
  facts.break_even_kept = summary.cache_kept.requests;
  facts.never_lost = summary.cache_lost.never;
  facts.never_kept = summary.cache_kept.never;
  facts.fallback_share = summary.fallback_share;
  facts.payback_days = summary.payback_days;
  facts.payback_never = summary.payback_never;
  return facts;
}

std::optional<double> replayed_p99_ms(const ArmEvidence& arm, double rate_factor) {
  std::vector<double> latencies;
  for (const auto& [process, observed] : arm.traffic) {
    double free_at = -INFINITY;
    for (const RawSample& sample : observed.samples) {
      const double due = static_cast<double>(sample.due_ns) / rate_factor;
      const double start = std::max(due, free_at);
      free_at = start + static_cast<double>(sample.done_ns - sample.start_ns);
      latencies.push_back((free_at - due) * 1e-6);
    }
  }
  if (latencies.empty()) return std::nullopt;
  return quantile(std::move(latencies), 0.99);
}

}  // namespace breakeven
