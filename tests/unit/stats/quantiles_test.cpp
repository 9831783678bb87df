#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/stats/stats.h"

namespace breakeven {
namespace {

TEST(Quantile, OneSampleIsEveryQuantile) {  // B118
  const std::vector<double> one = {35071};
  for (const double q : {0.0, 0.5, 0.99, 1.0}) EXPECT_EQ(quantile_sorted(one, q), 35071);
}

TEST(Quantile, NearestRankMatchesTheDefinition) {
  std::vector<double> values(20);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(quantile_sorted(values, 0.95), 19);  // ceil(0.95 * 20) is 19, not 20 by rounding error.
  EXPECT_EQ(quantile_sorted(values, 0.951), 20);
  EXPECT_EQ(quantile_sorted(values, 0.5), 10);
  EXPECT_EQ(quantile_sorted(values, 0), 1);
  std::reverse(values.begin(), values.end());
  EXPECT_EQ(quantile(values, 0.5), 10);
}

TEST(Quantile, OfTheMergedSamplesNotTheMeanOfQuantiles) {  // B122
  const Groups groups = {std::vector<double>(1000, 10), std::vector<double>(10, 2000)};
  const double qs[] = {0.95};
  EXPECT_EQ(*pooled_quantiles(groups, qs, "ms", 1)[0].value, 10);
}

TEST(Quantile, FloorsOfTheMethod) {  // B116
  EXPECT_EQ(percentile_floor(0.90), 64);
  EXPECT_EQ(percentile_floor(0.95), 130);
  EXPECT_EQ(percentile_floor(0.99), 662);
  EXPECT_EQ(percentile_floor(0.999), 6636);
  EXPECT_EQ(percentile_floor(0.5), 14);
  for (const std::size_t n : {10, 50, 99, 100, 299, 459, 661}) {
    const double qs[] = {0.99};
    const Number p99 = pooled_quantiles({std::vector<double>(n, 1.0)}, qs, "ms", 1)[0];
    EXPECT_FALSE(p99.value) << n;
    EXPECT_NE(p99.missing.find("not enough data: " + std::to_string(n) + " samples, p99 needs 662"),
              std::string::npos);
  }
  const double qs[] = {0.99, 0.999};
  const auto many = pooled_quantiles(Groups(4, std::vector<double>(50000, 1.0)), qs, "ms", 1);
  EXPECT_TRUE(many[0].value && many[0].lo && many[1].value && many[1].hi);
  EXPECT_EQ(many[0].samples, 200000);
}

TEST(OrderStatistics, RanksAreThoseOfTheBinomial) {
  std::vector<double> values(100);
  std::iota(values.begin(), values.end(), 1);
  const auto median = order_statistics_interval(values, 0.5);
  ASSERT_TRUE(median);
  EXPECT_EQ(median->lo, 40);  // The textbook interval of a median of 100: 40th and 61st.
  EXPECT_EQ(median->hi, 61);
}

TEST(OrderStatistics, NoneWhenTooFew) {
  const std::vector<double> values(5, 1.0);
  EXPECT_FALSE(order_statistics_interval(values, 0.5));  // 2 / 2^5 > 5 %.
  EXPECT_FALSE(order_statistics_interval(std::vector<double>(300, 1.0), 0.99));
  EXPECT_TRUE(order_statistics_interval(std::vector<double>(6, 1.0), 0.5));
  EXPECT_TRUE(order_statistics_interval(std::vector<double>(662, 1.0), 0.99));
  EXPECT_FALSE(order_statistics_interval({}, 0.5));
}

TEST(OrderStatistics, CoversTheQuantile) {
  Random random(3);
  int covered = 0;
  constexpr int kRuns = 1000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values(200);
    for (double& value : values) value = random.uniform();
    std::sort(values.begin(), values.end());
    const auto interval = order_statistics_interval(values, 0.9);
    ASSERT_TRUE(interval);
    covered += interval->lo <= 0.9 && 0.9 <= interval->hi;
  }
  EXPECT_GE(covered, 930);
}

}  // namespace
}  // namespace breakeven
