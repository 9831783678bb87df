#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/schema/number.h"

namespace breakeven {

/// 95 % interval of a statistic.
struct Interval {
  double lo = 0, hi = 0;
};

/// Samples of several processes: one inner vector a process.
using Groups = std::vector<std::vector<double>>;

// --- Quantiles -----------------------------------------------------------------------------------

/// Nearest-rank quantile: the ceil(q n)-th smallest, so always a value that occurred. `sorted` is
/// ascending and not empty, 0 <= q <= 1.
double quantile_sorted(std::span<const double> sorted, double q);
/// The same of values in any order.
double quantile(std::vector<double> values, double q);

/// Middle value; of an even count the mean of the middle two, so that two processes count alike.
double median_of(std::vector<double> values);
double mean_of(std::span<const double> values);  ///< Not empty.

/// Distribution-free interval of a quantile from two order statistics of independent samples
/// (binomial ranks). Empty when n is too small for a bound on each side.
std::optional<Interval> order_statistics_interval(std::span<const double> sorted, double q,
                                                  double confidence = 0.95);

/// Fewest samples from which the quantile may be shown: p90 64, p95 130, p99 662, p99.9 6,636.
std::int64_t percentile_floor(double q);

// --- Bootstrap over processes --------------------------------------------------------------------

inline constexpr int kResamples = 2000;

/// xoshiro256**, seeded by splitmix64: the same stream on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed);
  std::uint64_t next();
  std::uint32_t below(std::uint32_t bound);  ///< Uniform in [0, bound), bound > 0.
  double uniform();                          ///< In [0, 1).

 private:
  std::array<std::uint64_t, 4> state_;
};

/// One resample: processes drawn with replacement, then samples drawn inside each. A statistic
/// reads `process[i]` (drawn process) and `sample[i]` (drawn indices inside it).
struct Resample {
  std::vector<std::uint32_t> process;
  std::vector<std::vector<std::uint32_t>> sample;
};

/// Statistic values over `resamples` resamples of processes with these sample counts, unsorted.
std::vector<double> bootstrap(std::span<const std::size_t> sample_counts,
                              const std::function<double(const Resample&)>& statistic,
                              std::uint64_t seed, int resamples = kResamples);

/// What values a statistic can take, hence the scale on which its interval is widened.
enum class Range : std::uint8_t {
  kSigned,      ///< Differences and savings: widened on the linear scale.
  kNonnegative  ///< Times, rates, ratios, counts: widened on the log scale, so never below zero.
};

/// 95 % interval from bootstrap values around `estimate`. Few processes make percentile intervals
/// too narrow, so both arms of it are widened by t(0.975, processes - 1) / 1.96 *
/// sqrt(processes / (processes - 1)), which gives Student's interval in the normal case. Empty for
/// fewer than three processes or when more than 2.5 % of the values are not finite.
std::optional<Interval> bootstrap_interval(double estimate, std::vector<double> values,
                                           std::size_t processes, Range range);

/// Pooled quantiles with bootstrap intervals (processes, then moving blocks of sqrt(n) neighbours
/// inside each, so each inner vector is in order of time), in the order of `qs`. A quantile under
/// its floor is none("not enough data ..."); `intervals` false leaves lo and hi empty (quick runs).
std::vector<Number> pooled_quantiles(const Groups& groups, std::span<const double> qs,
                                     const std::string& unit, std::uint64_t seed,
                                     bool intervals = true);

/// Mean of all samples with its bootstrap interval; none when there is no sample.
Number pooled_mean(const Groups& groups, const std::string& unit, std::uint64_t seed,
                   bool intervals = true);

/// Median over processes of one figure a process, with the interval of the median of its resamples.
Number median_over_processes(const std::vector<double>& values, const std::string& unit,
                             std::uint64_t seed, bool intervals = true);

// --- Time series ---------------------------------------------------------------------------------

/// Where a series of service times becomes steady.
struct SteadyState {
  std::optional<std::int64_t> start;  ///< Samples before it are warm-up. Empty: never steady.
  std::vector<std::int64_t> spikes;   ///< Indices after `start` that are far above the level.
  double level = 0;                   ///< Median of the steady part; 0 when never.
  std::string reason;                 ///< Why never.
};

/// Finds it by a two-sided CUSUM of clipped deviations from the last fifth of the series, run
/// backwards: a lasting change is found, a single later spike is not one and is tagged. `shapes`
/// (optional, one a sample) makes values of different shapes comparable: each is divided by its
/// shape's median over the second half; shapes seen too rarely for that are left out.
SteadyState find_steady_state(std::span<const double> values,
                              std::span<const std::int32_t> shapes = {});

/// Do the three thirds of a series agree within `tolerance` on rate and on a percentile?
struct Stability {
  bool stable = true;
  std::string reason;                ///< Why not, or why it could not be judged.
  double percentile = 0;             ///< The one compared: the highest that a third carries.
  std::array<double, 3> level = {};  ///< That percentile, a third each.
  std::array<double, 3> rate = {};   ///< Samples a second, a third each.
};

/// `values` in order of completion with their completion times in seconds (same length). The
/// percentile is `q`, or the highest of p95, p90, p50 below it that a third has samples for.
Stability check_stability(std::span<const double> values, std::span<const double> done_s,
                          double q = 0.99, double tolerance = 0.10);

/// Says why an open-loop series looks saturated (in-flight count and latency rise over its thirds),
/// or nothing. `due_s` and `done_s` in order of arrival.
std::optional<std::string> saturation_hint(std::span<const double> due_s,
                                           std::span<const double> done_s);

/// Two-sided Mann-Whitney test with mid-ranks.
struct RankTest {
  std::optional<double> p_value;  ///< Empty when there are too few values, `reason` says so.
  std::string reason;
};
inline constexpr std::size_t kRankTestFloor = 5;  ///< Fewest values a side.
RankTest rank_test(std::span<const double> a, std::span<const double> b);

}  // namespace breakeven
