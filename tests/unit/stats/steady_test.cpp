#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reports/stats/stats.h"

namespace breakeven {
namespace {

double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

std::vector<double> late_spike(int after) {
  std::vector<double> values(20, 110);
  values.push_back(780);
  values.insert(values.end(), static_cast<std::size_t>(after), 50);
  return values;
}

TEST(SteadyState, LateWarmUpSpikeEndsAfterCall21) {  // B070
  for (const int after : {20, 30, 100, 1000}) {
    const SteadyState steady = find_steady_state(late_spike(after));
    ASSERT_TRUE(steady.start) << after << ": " << steady.reason;
    EXPECT_EQ(*steady.start, 21) << after;
    EXPECT_EQ(steady.level, 50);
    EXPECT_TRUE(steady.spikes.empty());
  }
}

TEST(SteadyState, LateWarmUpSpikeWithNoiseAndLaterSpikesTagged) {  // B070
  Random random(1);
  int exact = 0;
  for (int run = 0; run < 200; ++run) {
    std::vector<double> values = late_spike(150);
    for (double& value : values) value *= 1 + 0.02 * normal(random);
    values[60] = 140;
    values[120] = 95;
    const SteadyState steady = find_steady_state(values);
    exact += steady.start == 21 && steady.spikes == std::vector<std::int64_t>{60, 120};
  }
  EXPECT_GE(exact, 194);  // The false alarms of the CUSUM leave a few.
}

TEST(SteadyState, LengthsInTurnAreComparedWithinTheirShape) {  // B070: lengths 1-5 repeated.
  std::vector<double> values;
  std::vector<std::int32_t> shapes;
  for (int i = 0; i < 150; ++i) {
    const int shape = i % 5;
    values.push_back((shape + 1) * 10.0 + (i < 5 ? 90 : 0));
    shapes.push_back(shape);
  }
  values[92] += 90;  // Once again later.
  const SteadyState steady = find_steady_state(values, shapes);
  ASSERT_TRUE(steady.start) << steady.reason;
  EXPECT_EQ(*steady.start, 5);
  EXPECT_EQ(steady.spikes, (std::vector<std::int64_t>{92}));
}

TEST(SteadyState, SteadyFromTheStart) {
  const SteadyState constant = find_steady_state(std::vector<double>(100, 5.0));
  ASSERT_TRUE(constant.start);
  EXPECT_EQ(*constant.start, 0);
  EXPECT_EQ(find_steady_state(std::vector<double>(100, 0.0)).start, 0);
}

TEST(SteadyState, ColdFirstSampleIsWarmUp) {
  std::vector<double> values(100, 5.0);
  values[0] = 50;
  EXPECT_EQ(find_steady_state(values).start, 1);
}

TEST(SteadyState, NeverWhenTheLevelStillMoves) {
  std::vector<double> falling, jump(100, 10.0);
  for (int i = 0; i < 200; ++i) falling.push_back(100.0 - 0.45 * i);
  std::fill(jump.begin() + 85, jump.end(), 5.0);
  for (const auto& values : {falling, jump}) {
    const SteadyState steady = find_steady_state(values);
    EXPECT_FALSE(steady.start);
    EXPECT_FALSE(steady.reason.empty());
  }
}

TEST(SteadyState, NeverSaysWhenThereIsTooLittle) {
  EXPECT_NE(find_steady_state(std::vector<double>(19, 1.0)).reason.find("not enough data"),
            std::string::npos);
  EXPECT_FALSE(find_steady_state({}).start);
}

TEST(SteadyState, SlowerLaterIsAChangeToo) {
  std::vector<double> values(60, 5.0);
  values.insert(values.end(), 100, 8.0);
  EXPECT_EQ(find_steady_state(values).start, 60);
}

TEST(SteadyState, FewFalseChangesInSteadySkewedNoise) {
  Random random(2);
  int alarms = 0;
  constexpr int kRuns = 500;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values(400);
    for (double& value : values) value = 10 * std::exp(0.3 * normal(random));
    const SteadyState steady = find_steady_state(values);
    alarms += !steady.start || *steady.start > 0;
  }
  EXPECT_LE(alarms, kRuns * 6 / 100);
}

TEST(SteadyState, NoSpikeBelowAnEffectSize) {  // B126
  std::vector<double> values(5105, 0.5);
  values.insert(values.begin() + 3000, 0.6);
  EXPECT_TRUE(find_steady_state(values).spikes.empty());
}

TEST(Stability, SteadySeriesIsStable) {
  std::vector<double> values(3000, 5.0), done;
  for (int i = 0; i < 3000; ++i) done.push_back(i * 0.01);
  const Stability stability = check_stability(values, done);
  EXPECT_TRUE(stability.stable) << stability.reason;
  EXPECT_EQ(stability.percentile, 0.99);
}

TEST(Stability, NamesWhatMoved) {
  std::vector<double> values, done, slowing;
  for (int i = 0; i < 3000; ++i) {
    values.push_back(i < 2000 ? 5.0 : 6.0);
    done.push_back(i * 0.01);
    slowing.push_back(i < 2000 ? i * 0.01 : 20 + (i - 2000) * 0.02);
  }
  const Stability moved = check_stability(values, done);
  EXPECT_FALSE(moved.stable);
  EXPECT_NE(moved.reason.find("p99"), std::string::npos);
  const Stability rate = check_stability(std::vector<double>(3000, 5.0), slowing);
  EXPECT_FALSE(rate.stable);
  EXPECT_NE(rate.reason.find("rate"), std::string::npos);
}

TEST(Stability, ComparesTheHighestPercentileThatAThirdCarries) {
  const auto percentile = [](std::size_t n) {
    std::vector<double> done(n);
    for (std::size_t i = 0; i < n; ++i) done[i] = static_cast<double>(i);
    return check_stability(std::vector<double>(n, 1.0), done).percentile;
  };
  EXPECT_EQ(percentile(3 * 662), 0.99);
  EXPECT_EQ(percentile(3 * 661), 0.95);
  EXPECT_EQ(percentile(3 * 64), 0.90);
  EXPECT_EQ(percentile(3 * 20), 0.50);
  EXPECT_EQ(percentile(3 * 4), 0);
}

TEST(Saturation, SaysWhenTheServerFallsBehind) {
  std::vector<double> due, behind, keeps;
  for (int i = 0; i < 600; ++i) {
    due.push_back(i * 0.1);
    behind.push_back((i + 1) * 0.15);  // Service 0.15 s at one request each 0.1 s.
    keeps.push_back(i * 0.1 + 0.05);
  }
  EXPECT_TRUE(saturation_hint(due, behind));
  EXPECT_FALSE(saturation_hint(due, keeps));
  EXPECT_FALSE(saturation_hint({}, {}));
}

}  // namespace
}  // namespace breakeven
