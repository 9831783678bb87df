// The runner against services whose answer is known on paper. Times are those of the published
// cases divided by ten.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/measure/runner.h"
#include "reports/stats/stats.h"

namespace breakeven {
namespace {

constexpr Nanos kMs = 1'000'000;

/// Latencies and service times of a constant-rate open loop over the scripted executor, in seconds.
struct Measured {
  std::vector<double> latency, service;
  GeneratorCheck check;
};

Measured measure(const ScriptSpec& script, double rate_per_s, double seconds, bool parallel) {
  Scenario scenario;
  scenario.dims = {{"length", 1, 4}};
  scenario.inputs = {{"x", DType::kF32, {"length"}, 0, 1}};
  scenario.model.script = script;
  const ArmTable arms = base_arms();
  const ExecutorContext context{.scenario = &scenario};
  const std::unique_ptr<Executor> executor = find_arm(arms, "scripted")->make("scripted", context);
  executor->prepare();
  Workload workload(scenario, 1);
  workload.add({1});
  std::vector<Job> jobs;
  const auto count = static_cast<std::int64_t>(rate_per_s * seconds);
  for (std::int64_t i = 0; i < count; ++i) {
    jobs.push_back({i, static_cast<Nanos>(static_cast<double>(i) * 1e9 / rate_per_s), 0});
  }
  LoopLog log(jobs.size());
  // Hundreds of threads must have started before, under a sanitizer too.
  const Nanos first_due = (parallel ? 1500 : 200) * kMs;
  log.origin = now_ns();
  (parallel ? run_parallel_open_loop : run_open_loop)(*executor, workload, jobs, first_due, log);
  Measured measured;
  const std::vector<RawSample> samples = log.samples.take();
  for (const RawSample& sample : samples) {
    measured.latency.push_back(static_cast<double>(sample.done_ns - sample.due_ns) * 1e-9);
    measured.service.push_back(static_cast<double>(sample.done_ns - sample.start_ns) * 1e-9);
  }
  measured.check = check_generator(samples, first_due, seconds);
  return measured;
}

// B098: 50 ms of service with unlimited parallelism, frozen from 7 s to 22 s of 30 s.
TEST(ClosedForm, StallOfAParallelServiceIsChargedToAllWhoWaited) {
  const Measured measured = measure(
      {.service_ms = 5, .stalls = {{0.7, 1.5}}, .unlimited_parallelism = true}, 100, 3, true);
  ASSERT_EQ(measured.latency.size(), 300u);
  // Half of the arrivals wait 0.75 s on average; the longest wait is the whole freeze.
  EXPECT_NEAR(mean_of(measured.latency), 0.38, 0.03);
  EXPECT_NEAR(quantile(measured.latency, 0.75), 0.755, 0.04);
  EXPECT_NEAR(quantile(measured.latency, 0.99), 1.475, 0.04);
  EXPECT_NEAR(quantile(measured.latency, 0.40), 0.005, 0.01);
}

// One server: after a freeze of T the queue drains at the rate the server has to spare.
TEST(ClosedForm, StallOfASingleServerDrainsAtItsSpareRate) {
  // 100/s, 5 ms each, frozen 0.5 s from 0.5 s on: request k of the freeze waits
  // 0.5 - 0.01 k + 0.005 k = 0.5 - 0.005 k, until k = 100.
  const Measured measured = measure({.service_ms = 5, .stalls = {{0.5, 0.5}}}, 100, 2, false);
  ASSERT_EQ(measured.latency.size(), 200u);
  std::vector<double> expected;
  for (int i = 0; i < 200; ++i) {
    const double waited = 0.5 - 0.005 * (i - 50);
    expected.push_back(0.005 + (i >= 50 && waited > 0 ? waited : 0));
  }
  for (const double q : {0.5, 0.75, 0.9, 0.99}) {
    EXPECT_NEAR(quantile(measured.latency, q), quantile(expected, q), 0.03) << q;
  }
  EXPECT_NEAR(mean_of(measured.latency), mean_of(expected), 0.03);
  // The service time stands beside it: only the request that met the freeze was long itself.
  EXPECT_NEAR(quantile(measured.service, 0.9), 0.005, 0.005);
}

TEST(ClosedForm, UnstalledServiceIsItsServiceTime) {
  const Measured measured = measure({.service_ms = 4}, 100, 1, false);
  EXPECT_NEAR(quantile(measured.latency, 0.5), 0.004, 0.003);
  EXPECT_EQ(measured.check.asked_rate_per_s, 100);
}

// B100: ten million a second of a 100 ms service.
TEST(ClosedForm, ImpossibleRateIsVoid) {
  const Measured measured = measure({.service_ms = 100}, 1e7, 2e-6, false);
  EXPECT_FALSE(measured.check.valid);
  EXPECT_NE(measured.check.reason, "");
  EXPECT_LT(measured.check.achieved_rate_per_s, 11);
  EXPECT_GE(measured.check.late_share, 0);
}

}  // namespace
}  // namespace breakeven
