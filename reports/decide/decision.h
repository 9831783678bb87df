#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/schema/number.h"
#include "reports/schema/results.h"

namespace breakeven {

enum class Verdict : std::uint8_t {
  kEnable,
  kEnableWithLimits,
  kKeepEager,
  kNotEnoughData,
  kBlocked
};
std::string_view name_of(Verdict verdict);  ///< "enable", "enable_with_limits", ...

/// One rule that fired, with the number that fired it.
struct Reason {
  std::string rule;      ///< Stable id: "p99_over_slo".
  std::string sentence;  ///< For a product manager.
  std::map<std::string, Number> numbers;
};

/// A value of one input at which the verdict would change, found by searching the model.
struct Flip {
  std::string input;  ///< "restarts_per_day", "rate_per_s", "slo_p99_ms", "usd_per_hour".
  double current = 0;
  std::optional<double> at;  ///< Empty: no value within the searched range changes the verdict.
  double searched_lo = 0, searched_hi = 0;
  Verdict becomes = Verdict::kKeepEager;
  std::string sentence;
};

/// One share of the slow requests' time; shares add up to the whole.
struct SplitPart {
  std::string part;  ///< "steady_service", "recompile_stall", "cache_load", "queue_behind_stall",
                     ///< "queue_from_load", "other".
  Number share;
};

/// Everything the report shows for one arm.
struct ArmSummary {
  std::string arm;
  bool usable = false;
  std::string unusable_reason;
  Number p50_ms, p90_ms, p95_ms, p99_ms,
      p999_ms;                              ///< Latency from intended arrival, after warm-up.
  Number service_p50_ms, mean_service_ms;   ///< Steady, weighted by the shape distribution.
  Number throughput_per_s;                  ///< Achieved under traffic.
  Number max_throughput_per_s;              ///< 1 / mean service time, one worker.
  Number cold_start_ms, warm_start_ms;      ///< Process spawn to first result.
  Number compile_cold_ms, compile_warm_ms;  ///< Compile work inside them.
  Number time_to_steady_ms, requests_to_steady;
  Number recompiles_per_1000, delayed_share, hit_rate;
  Number kernels_per_request, extern_calls_per_request, fallback_requests;
  Number peak_rss_mb;
  Number speedup;  ///< Baseline mean service / this arm's.
  Number break_even_requests, break_even_minutes, break_even_usd;
  Number saving_per_life_s, saving_per_life_usd;
  Number accuracy_worst_ratio;  ///< RMSE over its limit; > 1 blocks.
  std::vector<SplitPart> p99_split;
  std::vector<StageTime> cold_stages, warm_stages;  ///< Medians; sum to the start.
  std::vector<std::string> warnings;                ///< Unstable, generator late, saturation, ...
  /// Points (requests, saving seconds, lo, hi) of the break-even curve.
  struct CurvePoint {
    double requests = 0, saving_s = 0, lo_s = 0, hi_s = 0;
  };
  std::vector<CurvePoint> curve;
  /// Latency distribution after warm-up: (quantile, ms).
  std::vector<std::pair<double, double>> latency_quantiles;
  /// Recompile log, first trial of traffic and cold.
  std::vector<CompileRecord> compiles;
  std::vector<FallbackRecord> fallbacks;
};

struct Decision {
  Verdict verdict = Verdict::kNotEnoughData;
  std::string arm;       ///< The arm recommended; the baseline's name for kKeepEager.
  std::string headline;  ///< One sentence.
  std::vector<Reason> reasons;
  std::vector<Flip> flips;
  std::vector<std::string> limits;  ///< Of kEnableWithLimits.
  std::vector<std::string> next;    ///< Of kNotEnoughData and --quick: what to run, how long.
  std::vector<ArmSummary> arms;     ///< Baseline first.
  Number requests_per_life;
};

/// Judges results by their policy: a pure function of (results, raw samples in `raw_directory`).
Decision decide(const Results& results, const std::filesystem::path& raw_directory);

}  // namespace breakeven
