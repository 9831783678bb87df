#include <gtest/gtest.h>

#include "harness/measure/runner.h"

namespace breakeven {
namespace {

/// Requests each `gap` served in `service`, first in first out, every `late_every`-th sent `late`.
std::vector<RawSample> series(int count, Nanos gap, Nanos service, int late_every = 0,
                              Nanos late = 0) {
  std::vector<RawSample> samples;
  Nanos free_at = 0;
  for (int i = 0; i < count; ++i) {
    RawSample sample{.id = i, .due_ns = i * gap};
    sample.sent_ns = sample.due_ns + (late_every > 0 && i % late_every == 0 ? late : 0);
    sample.start_ns = std::max(sample.sent_ns, free_at);
    sample.done_ns = free_at = sample.start_ns + service;
    samples.push_back(sample);
  }
  return samples;
}

constexpr Nanos kMs = 1'000'000;

TEST(GeneratorCheck, PassesAScheduleThatWasKept) {
  const GeneratorCheck check = check_generator(series(1000, 10 * kMs, 5 * kMs), 0, 10);
  EXPECT_TRUE(check.valid) << check.reason;
  EXPECT_DOUBLE_EQ(check.asked_rate_per_s, 100);
  EXPECT_DOUBLE_EQ(check.achieved_rate_per_s, 100);
}

TEST(GeneratorCheck, AllowsOnePercentOfLateSends) {
  EXPECT_TRUE(check_generator(series(1000, 10 * kMs, 5 * kMs, 100, kMs), 0, 10).valid);
  const GeneratorCheck late = check_generator(series(1000, 10 * kMs, 5 * kMs, 90, kMs), 0, 10);
  EXPECT_FALSE(late.valid);
  EXPECT_EQ(late.late_share, 0.012);
  EXPECT_TRUE(late.reason.starts_with("generator-bound"));
}

TEST(GeneratorCheck, ToleranceIsOnePercentOfTheMedianOnceAbove100us) {
  // 50 ms at the median allow 0.5 ms.
  EXPECT_TRUE(check_generator(series(100, 100 * kMs, 50 * kMs, 1, 400'000), 0, 10).valid);
  EXPECT_FALSE(check_generator(series(100, 100 * kMs, 50 * kMs, 1, 600'000), 0, 10).valid);
  EXPECT_TRUE(check_generator(series(100, 100 * kMs, kMs, 1, 90'000), 0, 10).valid);
  EXPECT_FALSE(check_generator(series(100, 100 * kMs, kMs, 1, 110'000), 0, 10).valid);
}

TEST(GeneratorCheck, OneLongStallAtTheEndIsNoFaultOfTheGenerator) {
  std::vector<RawSample> samples = series(1000, 10 * kMs, 5 * kMs);
  samples.back().done_ns += 1000 * kMs;
  EXPECT_TRUE(check_generator(samples, 0, 10).valid);
}

// B100: a rate far above what is served is named, not turned into a throughput.
TEST(GeneratorCheck, SaturationIsNamedWithTheRateByTheWallClock) {
  const GeneratorCheck check = check_generator(series(1000, kMs, 5 * kMs), 0, 1);
  EXPECT_FALSE(check.valid);
  EXPECT_TRUE(check.reason.starts_with("server-bound")) << check.reason;
  EXPECT_NEAR(check.achieved_rate_per_s, 200, 1);
}

TEST(GeneratorCheck, StarvedServerIsNamed) {
  std::vector<RawSample> samples = series(1000, kMs, kMs / 2);
  Nanos free_at = 0;
  for (RawSample& sample : samples) {
    sample.start_ns = std::max(sample.due_ns, free_at) + kMs;
    sample.done_ns = free_at = sample.start_ns + kMs / 2;
  }
  const GeneratorCheck check = check_generator(samples, 0, 1);
  EXPECT_FALSE(check.valid);
  EXPECT_TRUE(check.reason.starts_with("starved")) << check.reason;
}

TEST(GeneratorCheck, NoRequestIsNoMeasurement) {
  EXPECT_FALSE(check_generator({}, 0, 10).valid);
  EXPECT_FALSE(check_generator(series(1, kMs, kMs), 0, 0).valid);
}

}  // namespace
}  // namespace breakeven
