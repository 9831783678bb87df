#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "reports/stats/stats.h"

namespace breakeven {
namespace {

double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

Groups noisy_groups(Random& random, std::size_t processes, std::size_t samples, double process_sd,
                    double sample_sd) {
  Groups groups(processes);
  for (auto& group : groups) {
    const double level = 10 + process_sd * normal(random);
    for (std::size_t i = 0; i < samples; ++i) group.push_back(level + sample_sd * normal(random));
  }
  return groups;
}

TEST(Bootstrap, SameSeedSameIntervalOtherSeedOther) {
  Random random(1);
  const Groups groups = noisy_groups(random, 5, 100, 0.3, 1);
  const Number a = pooled_mean(groups, "ms", 7), b = pooled_mean(groups, "ms", 7);
  EXPECT_EQ(*a.lo, *b.lo);
  EXPECT_EQ(*a.hi, *b.hi);
  EXPECT_NE(*a.lo, *pooled_mean(groups, "ms", 8).lo);
}

TEST(Bootstrap, ProcessEffectsWidenTheInterval) {
  Random random(2);
  const Number without = pooled_mean(noisy_groups(random, 5, 500, 0, 1), "ms", 1);
  const Number with = pooled_mean(noisy_groups(random, 5, 500, 1, 1), "ms", 1);
  EXPECT_GT(*with.hi - *with.lo, 3 * (*without.hi - *without.lo));
}

TEST(Bootstrap, CoversTheMeanOfFewProcesses) {
  Random random(3);
  int covered = 0;
  constexpr int kRuns = 300;
  for (int run = 0; run < kRuns; ++run) {
    const Number mean =
        pooled_mean(noisy_groups(random, 5, 40, 0.5, 0.5), "ms", static_cast<std::uint64_t>(run));
    covered += *mean.lo <= 10 && 10 <= *mean.hi;
  }
  EXPECT_GE(covered, 0.92 * kRuns);  // Without the Student widening about 0.85.
}

TEST(Bootstrap, NoIntervalFromOneOrTwoProcessesOrWhenNotAsked) {
  Random random(4);
  EXPECT_FALSE(pooled_mean(noisy_groups(random, 2, 1000, 1, 1), "ms", 1).lo);
  const double qs[] = {0.5};
  EXPECT_FALSE(pooled_quantiles(noisy_groups(random, 2, 1000, 1, 1), qs, "ms", 1)[0].lo);
  EXPECT_FALSE(pooled_mean(noisy_groups(random, 5, 100, 1, 1), "ms", 1, false).lo);
  EXPECT_FALSE(median_over_processes({1, 2}, "ms", 1).lo);
}

TEST(Bootstrap, QuantileIntervalMatchesTheGenericBootstrap) {
  Random random(5);
  const Groups groups = noisy_groups(random, 5, 300, 0.5, 1);
  const double qs[] = {0.25, 0.9};
  const auto fast = pooled_quantiles(groups, qs, "ms", 1);
  const std::vector<std::size_t> sizes(5, 300);
  for (int q = 0; q < 2; ++q) {
    auto values = bootstrap(
        sizes,
        [&](const Resample& drawn) {
          std::vector<double> pool;
          for (std::size_t p = 0; p < 5; ++p) {
            for (const auto i : drawn.sample[p]) pool.push_back(groups[drawn.process[p]][i]);
          }
          return quantile(std::move(pool), qs[q]);
        },
        1);
    const auto slow = bootstrap_interval(*fast[static_cast<std::size_t>(q)].value, values, 5,
                                         Range::kNonnegative);
    EXPECT_NEAR(*fast[static_cast<std::size_t>(q)].lo, slow->lo, 0.12);
    EXPECT_NEAR(*fast[static_cast<std::size_t>(q)].hi, slow->hi, 0.12);
  }
}

TEST(Bootstrap, NonFiniteStatisticsGiveNoInterval) {
  std::vector<double> values(1000, 1.0);
  for (int i = 0; i < 100; ++i) values[static_cast<std::size_t>(i)] = std::nan("");
  EXPECT_FALSE(bootstrap_interval(1.0, values, 5, Range::kSigned));
  EXPECT_FALSE(bootstrap_interval(std::nan(""), std::vector<double>(1000, 1.0), 5, Range::kSigned));
}

TEST(Bootstrap, TimesNeverReachBelowZeroAndSavingsMay) {
  // One process of three is far slower: on a linear scale the widening passes zero.
  const Groups groups = {std::vector<double>(200, 1.0), std::vector<double>(200, 1.1),
                         std::vector<double>(200, 30.0)};
  const double qs[] = {0.5, 0.9};
  std::vector<Number> numbers = pooled_quantiles(groups, qs, "ms", 1);
  numbers.push_back(pooled_mean(groups, "ms", 1));
  numbers.push_back(median_over_processes({1, 1.1, 30}, "ms", 1));
  for (const Number& number : numbers) {
    EXPECT_GT(*number.lo, 0);
    EXPECT_LE(*number.lo, *number.value);
    EXPECT_GE(*number.hi, *number.value);
  }
  const std::vector<double> values = {1, 1, 1, 5, 9, 9, 9};
  EXPECT_LT(bootstrap_interval(5, values, 3, Range::kSigned)->lo, 0);
  // Student's widening for three processes: (t 4.3027 / 1.96) * sqrt(3 / 2), as an exponent.
  const Interval log_scale = *bootstrap_interval(5, values, 3, Range::kNonnegative);
  const double widen = 4.302652730 / 1.959963985 * std::sqrt(1.5);
  EXPECT_NEAR(log_scale.lo, 5 * std::pow(1.0 / 5, widen), 1e-6);
  EXPECT_NEAR(log_scale.hi, 5 * std::pow(9.0 / 5, widen), 1e-6);
  EXPECT_EQ(bootstrap_interval(5, {0, 0, 5, 5, 9}, 3, Range::kNonnegative)->lo, 0);
  EXPECT_EQ(bootstrap_interval(0, {0, 0, 0, 0}, 3, Range::kNonnegative)->hi, 0);
}

TEST(Bootstrap, EmptyInputsSayWhy) {
  EXPECT_FALSE(pooled_mean({}, "ms", 1).value);
  EXPECT_FALSE(pooled_mean({{}, {}}, "ms", 1).missing.empty());
  EXPECT_FALSE(median_over_processes({}, "ms", 1).missing.empty());
}

TEST(Bootstrap, TwoProcessesCountAlike) {
  EXPECT_EQ(*median_over_processes({3, 1}, "ms", 1).value, 2);
  EXPECT_EQ(*median_over_processes({9, 1, 2}, "ms", 1).value, 2);
}

TEST(Bootstrap, TwoThousandResamplesOfFifteenThousandSamplesAreQuick) {
  Random random(6);
  const Groups groups = noisy_groups(random, 5, 3000, 0.1, 1);
  const double qs[] = {0.5, 0.9, 0.95, 0.99};
  const auto begin = std::chrono::steady_clock::now();
  (void)pooled_quantiles(groups, qs, "ms", 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 5.0);  // About 0.1 s; a sanitizer build takes ten times that.
}

}  // namespace
}  // namespace breakeven
