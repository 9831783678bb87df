#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <numeric>

#include "compiler/support/check.h"
#include "reports/stats/stats.h"

namespace breakeven {
namespace {

/// Nearest rank, 0-based. The small slack undoes 0.95 * 20 = 19.000000000000004.
std::size_t rank_of(double q, std::size_t n) {
  BE_CHECK(n > 0 && q >= 0 && q <= 1);
  const double rank = std::ceil(q * static_cast<double>(n) - 1e-9);
  return static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(n))) - 1;
}

}  // namespace

double quantile_sorted(std::span<const double> sorted, double q) {
  return sorted[rank_of(q, sorted.size())];
}

double quantile(std::vector<double> values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank_of(q, values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double mean_of(std::span<const double> values) {
  BE_CHECK(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<Interval> order_statistics_interval(std::span<const double> sorted, double q,
                                                  double confidence) {
  using boost::math::binomial_distribution;
  using boost::math::cdf;
  if (sorted.empty() || q <= 0 || q >= 1) return std::nullopt;
  const auto n = static_cast<double>(sorted.size());
  const double tail = (1 - confidence) / 2;
  const binomial_distribution<double> below(n, q);
  // Ranks l < u (1-based) with P(B < l) <= tail and P(B >= u) <= tail, B = samples below the
  // quantile.
  const auto at_most = [&](std::int64_t k) {
    return k < 0 ? 0.0 : cdf(below, std::min(static_cast<double>(k), n));
  };
  auto lower = static_cast<std::int64_t>(boost::math::quantile(below, tail));
  while (lower > 0 && at_most(lower - 1) > tail) --lower;
  while (at_most(lower) <= tail) ++lower;
  auto upper = static_cast<std::int64_t>(boost::math::quantile(below, 1 - tail)) + 1;
  while (upper <= static_cast<std::int64_t>(n) && 1 - at_most(upper - 1) > tail) ++upper;
  while (upper > 1 && 1 - at_most(upper - 2) <= tail) --upper;
  if (lower < 1 || upper > static_cast<std::int64_t>(n)) return std::nullopt;
  return Interval{sorted[static_cast<std::size_t>(lower - 1)],
                  sorted[static_cast<std::size_t>(upper - 1)]};
}

std::int64_t percentile_floor(double q) {
  struct Floor {
    double q;
    std::int64_t samples;
  };
  constexpr std::array<Floor, 4> kFloors = {{{0.90, 64}, {0.95, 130}, {0.99, 662}, {0.999, 6636}}};
  for (const Floor& floor : kFloors) {
    if (std::fabs(q - floor.q) < 1e-9) return floor.samples;
  }
  // The table's figures are about 6.6 samples beyond the quantile.
  const double beyond = std::min(q, 1 - q);
  return beyond > 0 ? static_cast<std::int64_t>(std::ceil(6.64 / beyond - 1e-9)) : 1;
}

}  // namespace breakeven
