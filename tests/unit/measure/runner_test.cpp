#include "harness/measure/runner.h"

#include <gtest/gtest.h>

#include "tests/unit/measure/fake_executor.h"

namespace breakeven {
namespace {

constexpr Nanos kMs = 1'000'000;

class Loops : public testing::Test {
 protected:
  Loops() : workload_(scenario_, 1) { workload_.add({}); }
  LoopLog open(Executor& executor, const std::vector<Job>& jobs) {
    LoopLog log(jobs.size());
    log.origin = now_ns();
    run_open_loop(executor, workload_, jobs, 5 * kMs, log);
    return log;
  }
  Scenario scenario_;
  Workload workload_;
};

TEST_F(Loops, OpenLoopCountsLatencyFromTheIntendedArrival) {
  FakeExecutor executor([](int request) { return serve_for(request == 0 ? 60 * kMs : kMs); });
  LoopLog log = open(executor, {{0, 0, 0}, {1, 10 * kMs, 0}, {2, 20 * kMs, 0}, {3, 200 * kMs, 0}});
  const std::vector<RawSample> samples = log.samples.take();
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[1].due_ns, 15 * kMs);
  // Waited behind the stall: due at 10, free at 60.
  EXPECT_GE(samples[1].done_ns - samples[1].due_ns, 51 * kMs);
  EXPECT_GE(samples[2].start_ns, samples[1].done_ns);
  // A busy server does not delay sends.
  EXPECT_LT(samples[2].sent_ns - samples[2].due_ns, 30 * kMs);
  EXPECT_GE(samples[3].start_ns, samples[3].due_ns);
}

TEST_F(Loops, CompileAndCacheLoadTimesAreKeptApart) {
  FakeExecutor executor([](int request) { return compile_for((request + 1) * kMs, request == 0); });
  LoopLog log = open(executor, {{7, 0, 0}, {8, 10 * kMs, 0}});
  const std::vector<RawSample> samples = log.samples.take();
  EXPECT_EQ(samples[0].compile_ns, kMs);
  EXPECT_EQ(samples[0].cache_load_ns, 0);
  EXPECT_EQ(samples[1].compile_ns, 0);
  EXPECT_EQ(samples[1].cache_load_ns, 2 * kMs);
  EXPECT_NE(samples[0].flags & kSampleCompiled, 0u);
  ASSERT_EQ(log.compiles.size(), 2u);
  EXPECT_EQ(log.compiles[1].request, 8);
}

// B114: requests turned away are no fast answers.
TEST_F(Loops, FailedRequestsAreMarkedAndKept) {
  FakeExecutor executor([](int request) -> RunOutcome {
    if (request % 3 == 0) throw UserError(Diagnostic{.message = "no room"});
    return serve_for(kMs);
  });
  LoopLog log(30);
  log.origin = now_ns();
  run_closed_loop(executor, workload_, [] { return 0; }, 1, 30, 10, log);
  int failed = 0;
  for (const RawSample& sample : log.samples.take()) failed += (sample.flags & kSampleFailed) != 0;
  EXPECT_EQ(failed, 10);
  EXPECT_EQ(log.first_failure, "no room");
}

// B106: a window holds the requests that were finished in it, not more.
TEST_F(Loops, ClosedLoopServesWhatFitsIntoItsTime) {
  FakeExecutor executor([](int) { return serve_for(50 * kMs); });
  LoopLog log(1000);
  log.origin = now_ns();
  run_closed_loop(executor, workload_, [] { return 0; }, 1, 1000, 0.1, log);
  const std::vector<RawSample> samples = log.samples.take();
  EXPECT_GE(samples.size(), 1u);
  EXPECT_LE(samples.size(), 2u);
}

// B110: a count and a time that end together end the loop once.
TEST_F(Loops, ClosedLoopEndsOnceWhenCountAndTimeMeet) {
  FakeExecutor executor([](int) { return serve_for(10 * kMs); });
  LoopLog log(100);
  log.origin = now_ns();
  run_closed_loop(executor, workload_, [] { return 0; }, 1, 5, 0.05, log);
  EXPECT_LE(log.samples.size(), 5u);
  EXPECT_EQ(log.samples.dropped(), 0);
}

TEST_F(Loops, ClosedLoopOfSeveralClientsQueuesThem) {
  FakeExecutor executor([](int) { return serve_for(5 * kMs); });
  LoopLog log(40);
  log.origin = now_ns();
  run_closed_loop(executor, workload_, [] { return 0; }, 4, 40, 10, log);
  const std::vector<RawSample> samples = log.samples.take();
  // In the steady part each waits for the three before it.
  for (std::size_t i = 8; i < samples.size(); ++i) {
    EXPECT_GE(samples[i].done_ns - samples[i].due_ns, 20 * kMs);
  }
}

TEST_F(Loops, HarnessItselfTakesLittle) {
  FakeExecutor executor([](int) { return RunOutcome{}; });
  constexpr int kRequests = 200'000;
  LoopLog log(kRequests);
  log.origin = now_ns();
  const Nanos before = now_ns();
  run_closed_loop(executor, workload_, [] { return 0; }, 1, kRequests, 60, log);
  const double each = static_cast<double>(now_ns() - before) / kRequests;
  RecordProperty("nanoseconds_a_request", std::to_string(each));
  std::printf("harness overhead: %.0f ns a request\n", each);
  EXPECT_EQ(log.samples.size(), static_cast<std::size_t>(kRequests));
}

}  // namespace
}  // namespace breakeven
