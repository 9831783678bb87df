#include "reports/render/metrics.h"

#include <array>
#include <map>

namespace breakeven {

std::span<const ArmMetric> arm_metrics() {
  using A = ArmSummary;
  static constexpr ArmMetric kMetrics[] = {
      {"speedup", "Speed-up of a mean request", &A::speedup},
      {"mean_service_ms", "Mean service time", &A::mean_service_ms},
      {"service_p50_ms", "Median service time", &A::service_p50_ms},
      {"throughput_closed_loop_per_s", "Throughput, closed loop", &A::throughput_closed_loop_per_s},
      {"achieved_rate_per_s", "Answered under traffic", &A::achieved_rate_per_s},
      {"p50_ms", "Latency p50", &A::p50_ms},
      {"p90_ms", "Latency p90", &A::p90_ms},
      {"p95_ms", "Latency p95", &A::p95_ms},
      {"p99_ms", "Latency p99, after warm-up", &A::p99_ms},
      {"p999_ms", "Latency p99.9", &A::p999_ms},
      {"p99_ratio", "p99 over the baseline's", &A::p99_ratio},
      {"slo_share", "Requests within the target", &A::slo_share},
      {"start_cold_p99_ms", "p99 straight after a cold start", &A::start_cold_p99_ms},
      {"start_warm_p99_ms", "p99 straight after a warm start", &A::start_warm_p99_ms},
      {"cold_start_ms", "Cold start to first result", &A::cold_start_ms},
      {"warm_start_ms", "Warm start to first result", &A::warm_start_ms},
      {"compile_cold_ms", "Compile work in a cold start", &A::compile_cold_ms},
      {"compile_warm_ms", "Compile and load work in a warm start", &A::compile_warm_ms},
      {"time_to_steady_ms", "Cold start until steady", &A::time_to_steady_ms},
      {"requests_to_steady", "Requests until steady, cold", &A::requests_to_steady},
      {"warm_requests_to_steady", "Requests until steady, warm", &A::warm_requests_to_steady},
      {"warmup_coverage", "Requests of warmed-up shapes", &A::warmup_coverage},
      {"recompiles_per_1000", "Recompiles", &A::recompiles_per_1000},
      {"delayed_share", "Requests delayed by a compile or load", &A::delayed_share},
      {"hit_rate", "Requests that found their program", &A::hit_rate},
      {"fallback_share", "Requests served eagerly", &A::fallback_share},
      {"failed_share", "Requests without an answer", &A::failed_share},
      {"kernels_per_request", "Fused kernels a request", &A::kernels_per_request},
      {"extern_calls_per_request", "Library calls a request", &A::extern_calls_per_request},
      {"peak_rss_mb", "Peak memory", &A::peak_rss_mb},
      {"payback_days", "Engineering cost earned back", &A::payback_days},
      {"accuracy_worst_ratio", "Worst error over its limit", &A::accuracy_worst_ratio},
      {"accuracy_coverage", "Requests whose shape was compared", &A::accuracy_coverage},
  };
  return kMetrics;
}

std::span<const BreakEvenMetric> break_even_metrics() {
  using B = BreakEvenSummary;
  static constexpr BreakEvenMetric kMetrics[] = {
      {"requests", "Break-even", &B::requests},
      {"minutes", "Break-even at the scenario's rate", &B::minutes},
      {"invested_usd", "Machine time that compiling costs", &B::invested_usd},
      {"saving_per_request_ms", "Saved by a request", &B::saving_per_request_ms},
      {"start_penalty_ms", "Later first result", &B::start_penalty_ms},
      {"stall_per_new_shape_ms", "Stall of a new shape", &B::stall_per_new_shape_ms},
      {"saving_per_life_s", "Saved in a process life", &B::saving_per_life_s},
      {"saving_per_life_usd", "Saved in a process life, money", &B::saving_per_life_usd},
  };
  return kMetrics;
}

std::vector<Given> givens_of(const Results& results) {
  // A scenario's zero stands for what it left out.
  const auto number = [](double value, const std::string& unit, const std::string& origin) {
    return value > 0 ? Number::given(value, unit, origin_of(origin).value_or(Origin::kGiven))
                     : Number::none(unit, "not given", Origin::kGiven);
  };
  std::string price_source;
  for (const std::string* part :
       {&results.price_device, &results.price_date, &results.price_source}) {
    if (part->empty()) continue;
    price_source += (price_source.empty() ? "" : ", ") + *part;
  }
  std::vector<Given> givens;
  givens.push_back(
      {"rate_per_s", "Arrival rate", number(results.rate_per_s, "1/s", results.rate_origin), ""});
  givens.push_back({"restarts_per_day", "Restarts a day",
                    number(results.restarts_per_day, "", results.restarts_origin), ""});
  givens.push_back({"slo_p99_ms", "Target for the p99", number(results.slo_p99_ms, "ms", "given"),
                    results.slo_source});
  givens.push_back({"usd_per_hour", "Price of an hour",
                    number(results.usd_per_hour, "usd", results.price_origin), price_source});
  givens.push_back(
      {"engineer_days", "Engineering effort", number(results.engineer_days, "days", "given"), ""});
  givens.push_back({"usd_per_engineer_day", "Price of an engineer-day",
                    number(results.usd_per_engineer_day, "usd", "given"), ""});
  return givens;
}

std::size_t leading_arm(const Decision& decision) {
  for (std::size_t i = 0; i < decision.arms.size(); ++i) {
    if (decision.arms[i].arm == decision.best_arm) return i;
  }
  return 0;
}

const char* label_of_split(const std::string& part) {
  static const std::map<std::string, const char*> kLabels = {
      {"steady_service", "Steady service"},
      {"recompile_stall", "Own recompile"},
      {"cache_load", "Own cache load"},
      {"queue_behind_stall", "Queue behind a stall"},
      {"queue_from_load", "Queue from load"},
      {"batching_delay", "Batching delay"},
      {"other", "Other"},
  };
  const auto found = kLabels.find(part);
  return found == kLabels.end() ? "Other" : found->second;
}

}  // namespace breakeven
