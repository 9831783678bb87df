#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

#include "reports/stats/stats.h"

namespace breakeven {
namespace {

constexpr std::size_t kExactLimit =
    40;  ///< Values in all up to which every arrangement is counted.

/// Twice the mid-rank of each value of `pool`, so that ties stay whole numbers.
std::vector<int> doubled_ranks(const std::vector<double>& pool) {
  std::vector<std::size_t> order(pool.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return pool[a] < pool[b]; });
  std::vector<int> ranks(pool.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && pool[order[end]] == pool[order[i]]) ++end;
    for (std::size_t j = i; j < end; ++j) ranks[order[j]] = static_cast<int>(i + 1 + end);
    i = end;
  }
  return ranks;
}

/// P(|rank sum - its mean| >= observed) over all ways to choose the first group.
double exact_p(const std::vector<int>& ranks, std::size_t first, int observed) {
  const int total = std::accumulate(ranks.begin(), ranks.end(), 0);
  std::vector<std::vector<double>> ways(first + 1,
                                        std::vector<double>(static_cast<std::size_t>(total) + 1));
  ways[0][0] = 1;
  for (const int rank : ranks) {
    for (std::size_t k = first; k >= 1; --k) {
      for (int sum = total; sum >= rank; --sum) {
        ways[k][static_cast<std::size_t>(sum)] += ways[k - 1][static_cast<std::size_t>(sum - rank)];
      }
    }
  }
  const double centre =
      static_cast<double>(total) * static_cast<double>(first) / static_cast<double>(ranks.size());
  double extreme = 0, all = 0;
  for (int sum = 0; sum <= total; ++sum) {
    const double count = ways[first][static_cast<std::size_t>(sum)];
    all += count;
    if (std::fabs(sum - centre) >= std::fabs(observed - centre) - 1e-9) extreme += count;
  }
  return extreme / all;
}

double normal_p(const std::vector<int>& ranks, std::size_t first, int observed) {
  const auto n = static_cast<double>(ranks.size());
  const auto n1 = static_cast<double>(first);
  const double centre = std::accumulate(ranks.begin(), ranks.end(), 0.0) * n1 / n;
  double squares = 0;
  for (const int rank : ranks) squares += (rank - (n + 1)) * (rank - (n + 1));
  const double variance = n1 * (n - n1) / (n * (n - 1)) * squares;
  const double z = std::max(0.0, std::fabs(observed - centre) - 1) / std::sqrt(variance);
  return 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), z));
}

}  // namespace

RankTest rank_test(std::span<const double> a, std::span<const double> b) {
  if (a.size() < kRankTestFloor || b.size() < kRankTestFloor) {
    return {std::nullopt, "insufficient: a rank test needs at least " +
                              std::to_string(kRankTestFloor) + " values a side, there are " +
                              std::to_string(a.size()) + " and " + std::to_string(b.size())};
  }
  std::vector<double> pool(a.begin(), a.end());
  pool.insert(pool.end(), b.begin(), b.end());
  if (std::ranges::all_of(pool, [&](double value) { return value == pool.front(); })) {
    return {1.0, "all values are equal"};
  }
  const std::vector<int> ranks = doubled_ranks(pool);
  const int observed =
      std::accumulate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(a.size()), 0);
  const bool exact = pool.size() <= kExactLimit;
  const double p = exact ? exact_p(ranks, a.size(), observed) : normal_p(ranks, a.size(), observed);
  return {std::min(1.0, p), ""};
}

}  // namespace breakeven
