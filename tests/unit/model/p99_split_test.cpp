#include "reports/model/p99_split.h"

#include <gtest/gtest.h>

#include <numeric>

#include "reports/stats/stats.h"

namespace breakeven {
namespace {

constexpr std::int64_t kMs = 1'000'000;

std::int64_t part(const SlowSplit& split, SlowPart which) {
  return split[static_cast<std::size_t>(which)];
}

/// FIFO single server: (due, service, compile, load) in ms.
std::vector<RawSample> fifo(const std::vector<std::array<std::int64_t, 4>>& requests) {
  std::vector<RawSample> samples;
  std::int64_t free_at = 0;
  for (const auto& [due, service, compile, load] : requests) {
    RawSample sample;
    sample.id = static_cast<std::int64_t>(samples.size());
    sample.due_ns = due * kMs;
    sample.start_ns = std::max(free_at, due * kMs);
    sample.done_ns = sample.start_ns + (service + compile + load) * kMs;
    sample.compile_ns = compile * kMs;
    sample.cache_load_ns = load * kMs;
    free_at = sample.done_ns;
    samples.push_back(sample);
  }
  return samples;
}

TEST(P99Split, OwnStallAndThoseBehindIt) {
  // A compile of 100 ms at t = 0, service 10 ms, one request each 20 ms: without it nobody waits.
  const auto splits = split_latencies(fifo({{0, 10, 100, 0}, {20, 10, 0, 0}, {40, 10, 0, 0}}));
  EXPECT_EQ(part(splits[0], SlowPart::kRecompileStall), 100 * kMs);
  EXPECT_EQ(part(splits[0], SlowPart::kSteadyService), 10 * kMs);
  EXPECT_EQ(part(splits[1], SlowPart::kQueueBehindStall), 90 * kMs);
  EXPECT_EQ(part(splits[1], SlowPart::kQueueFromLoad), 0);
  EXPECT_EQ(part(splits[2], SlowPart::kQueueBehindStall), 80 * kMs);
}

TEST(P99Split, LoadAndStallAreToldApart) {
  // Three at once: the second waits 10 ms for the first's service and 50 ms for its cache load.
  const auto splits = split_latencies(fifo({{0, 10, 0, 50}, {0, 10, 0, 0}, {0, 10, 0, 0}}));
  EXPECT_EQ(part(splits[0], SlowPart::kCacheLoad), 50 * kMs);
  EXPECT_EQ(part(splits[1], SlowPart::kQueueBehindStall), 50 * kMs);
  EXPECT_EQ(part(splits[1], SlowPart::kQueueFromLoad), 10 * kMs);
  EXPECT_EQ(part(splits[2], SlowPart::kQueueFromLoad), 20 * kMs);
}

TEST(P99Split, BatchingAndOtherTime) {
  std::vector<RawSample> samples = fifo({{0, 10, 0, 0}});
  samples[0].start_ns += 7 * kMs;
  samples[0].done_ns += 7 * kMs;
  samples[0].batch_wait_ns = 5 * kMs;
  const auto splits = split_latencies(samples);
  EXPECT_EQ(part(splits[0], SlowPart::kBatchingDelay), 5 * kMs);
  EXPECT_EQ(part(splits[0], SlowPart::kOther), 2 * kMs);
}

TEST(P99Split, WakeUpDelayOfTheFirstRequestIsOtherTime) {
  std::vector<RawSample> samples = fifo({{5, 10, 0, 0}, {6, 10, 0, 0}});
  samples[0].start_ns += kMs;
  samples[0].done_ns += kMs;
  samples[1].start_ns += kMs;
  samples[1].done_ns += kMs;
  const auto splits = split_latencies(samples);
  EXPECT_EQ(part(splits[0], SlowPart::kOther), kMs);
  EXPECT_EQ(part(splits[0], SlowPart::kQueueFromLoad), 0);
  EXPECT_EQ(part(splits[1], SlowPart::kQueueFromLoad), 10 * kMs);
  EXPECT_EQ(part(splits[1], SlowPart::kQueueBehindStall), 0);
}

TEST(P99Split, PartsAddUpToTheLatencyExactly) {
  Random random(5);
  for (int run = 0; run < 100; ++run) {
    std::vector<std::array<std::int64_t, 4>> requests;
    std::int64_t due = 0;
    for (int i = 0; i < 300; ++i) {
      due += random.below(25);
      requests.push_back({due, 1 + random.below(20), random.below(20) == 0 ? random.below(200) : 0,
                          random.below(20) == 0 ? random.below(30) : 0});
    }
    const auto samples = fifo(requests);
    const auto splits = split_latencies(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::int64_t sum = std::accumulate(splits[i].begin(), splits[i].end(), std::int64_t{0});
      ASSERT_EQ(sum, samples[i].done_ns - samples[i].due_ns);
      for (const std::int64_t piece : splits[i]) ASSERT_GE(piece, 0);
    }
  }
}

TEST(P99Split, QueueBehindStallsEqualsTheReplayWithoutThem) {
  Random random(6);
  std::vector<std::array<std::int64_t, 4>> with, without;
  std::int64_t due = 0;
  for (int i = 0; i < 2000; ++i) {
    due += random.below(25);
    const std::int64_t service = 1 + random.below(20);
    const std::int64_t compile = random.below(30) == 0 ? 100 : 0;
    with.push_back({due, service, compile, 0});
    without.push_back({due, service, 0, 0});
  }
  const auto splits = split_latencies(fifo(with));
  const auto clean = fifo(without);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    EXPECT_EQ(part(splits[i], SlowPart::kQueueFromLoad), clean[i].start_ns - clean[i].due_ns);
  }
}

TEST(P99Split, TailSharesAddUpToOne) {
  std::vector<std::array<std::int64_t, 4>> requests;
  for (int i = 0; i < 1000; ++i) requests.push_back({i * 20, 10, i % 100 == 0 ? 90 : 0, 0});
  const std::vector<std::vector<RawSample>> trials = {fifo(requests), fifo(requests)};
  const TailSplit tail = split_tail(trials, 0.995);
  EXPECT_GE(tail.requests, 20);
  EXPECT_NEAR(std::accumulate(tail.share.begin(), tail.share.end(), 0.0), 1, 1e-12);
  EXPECT_GT(tail.share[static_cast<std::size_t>(SlowPart::kRecompileStall)], 0.8);
  EXPECT_EQ(split_tail({}).requests, 0);
}

}  // namespace
}  // namespace breakeven
