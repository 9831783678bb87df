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
                     ///< "queue_from_load", "batching_delay", "other".
  Number share;
};

/// Break-even of one arm for one kind of restart.
struct BreakEvenSummary {
  Number requests, minutes;  ///< Requests of a process life, minutes at the scenario's rate.
  Number invested_usd;       ///< Machine time that compiling costs until then, in money.
  Number saving_per_life_s, saving_per_life_usd;
  Number saving_per_request_ms, start_penalty_ms;  ///< e - c, and C0 of DESIGN's formula.
  Number stall_per_new_shape_ms;                   ///< Mean K of shapes met after the first.
  bool never = false;                              ///< `requests` is empty because it never pays.
  /// Points (requests, saving seconds, lo, hi) of the curve S(N).
  struct CurvePoint {
    double requests = 0, saving_s = 0, lo_s = 0, hi_s = 0;
  };
  std::vector<CurvePoint> curve;
};

/// Everything the report shows for one arm.
struct ArmSummary {
  std::string arm;
  bool usable = false;
  std::string unusable_reason;
  /// Latency from intended arrival, after warm-up of the shape classes.
  Number p50_ms, p90_ms, p95_ms, p99_ms, p999_ms;
  Number p99_ratio;                                     ///< Over the baseline's, same repetitions.
  Number start_cold_p99_ms, start_warm_p99_ms;          ///< Traffic straight after a start.
  Number service_p50_ms, mean_service_ms;               ///< Closed loop, compile and load apart.
  Number throughput_closed_loop_per_s;                  ///< 1 / mean service time, one worker.
  Number achieved_rate_per_s;                           ///< Answered per second under traffic.
  Number cold_start_ms, warm_start_ms;                  ///< Process spawn to first result.
  Number compile_cold_ms, compile_warm_ms;              ///< Compile and load work inside them.
  Number time_to_steady_ms, requests_to_steady;         ///< After a cold start.
  Number warm_requests_to_steady;                       ///< After a warm start.
  Number warmup_coverage;                               ///< Share of requests of warmed-up shapes.
  Number recompiles_per_1000, delayed_share, hit_rate;  ///< Under warmed traffic.
  Number kernels_per_request, extern_calls_per_request, fallback_share, failed_share;
  Number slo_share;  ///< Requests within the SLO.
  Number peak_rss_mb;
  Number speedup;                           ///< Baseline mean service / this arm's.
  BreakEvenSummary cache_lost, cache_kept;  ///< Restart with an empty, with a kept cache.
  Number payback_days;                      ///< Engineering cost / daily saving.
  bool payback_never = false;               ///< A mean day saves nothing.
  Number accuracy_worst_ratio;              ///< RMSE over its limit; > 1 blocks.
  Number accuracy_coverage;                 ///< Share of requests whose shape was checked.
  std::vector<SplitPart> p99_split;
  std::int64_t p99_split_requests = 0;              ///< Slow requests behind it.
  std::vector<StageTime> cold_stages, warm_stages;  ///< Of the median process; sum to its start.
  std::vector<std::string> warnings;                ///< Unstable, generator late, saturation, ...
  /// Latency distribution after warm-up: (quantile, ms).
  std::vector<std::pair<double, double>> latency_quantiles;
  std::vector<CompileRecord> compiles;  ///< Log of the first cold and the first traffic trial.
  std::vector<FallbackRecord> fallbacks;
};

struct Decision {
  Verdict verdict = Verdict::kNotEnoughData;
  std::string arm;       ///< The arm recommended; the baseline's name for kKeepEager.
  std::string best_arm;  ///< The compiled arm that came out best; the baseline when there is none.
  std::string headline;  ///< One sentence.
  std::vector<Reason> reasons;
  std::vector<Flip> flips;
  std::vector<std::string> limits;  ///< Of kEnableWithLimits.
  std::vector<std::string> next;    ///< Of kNotEnoughData and --quick: what to run, how long.
  std::vector<std::string> notes;   ///< What holds for every number: order, resampling, coverage.
  std::vector<ArmSummary> arms;     ///< Baseline first.
  std::string policy;               ///< Name of the policy.
  Number requests_per_life;
};

/// Judges results by their policy: a pure function of (results, raw samples in `raw_directory`).
/// `raw_directory` is the folder of results.json; Trial::raw_file is relative to it. Throws
/// UserError for a bad policy or a bad raw file.
Decision decide(const Results& results, const std::filesystem::path& raw_directory);

}  // namespace breakeven
