#include "reports/model/p99_split.h"

#include <algorithm>

#include "compiler/support/check.h"
#include "reports/stats/stats.h"

namespace breakeven {
namespace {

std::int64_t latency_of(const RawSample& sample) { return sample.done_ns - sample.due_ns; }

std::int64_t& at(SlowSplit& split, SlowPart part) { return split[static_cast<std::size_t>(part)]; }

}  // namespace

std::string_view name_of(SlowPart part) {
  constexpr std::array<std::string_view, kSlowParts> kNames = {
      "steady_service",  "recompile_stall", "cache_load", "queue_behind_stall",
      "queue_from_load", "batching_delay",  "other"};
  return kNames[static_cast<std::size_t>(part)];
}

std::vector<SlowSplit> split_latencies(std::span<const RawSample> samples) {
  std::vector<SlowSplit> splits;
  splits.reserve(samples.size());
  // The server is free at first: as it happened, and in the replay without compiles and loads.
  std::int64_t busy_until = samples.empty() ? 0 : samples.front().due_ns;
  std::int64_t busy_without_stall = busy_until;
  for (const RawSample& sample : samples) {
    SlowSplit split = {};
    const std::int64_t service = std::max<std::int64_t>(0, sample.done_ns - sample.start_ns);
    const std::int64_t compile = std::clamp<std::int64_t>(sample.compile_ns, 0, service);
    const std::int64_t load = std::clamp<std::int64_t>(sample.cache_load_ns, 0, service - compile);
    at(split, SlowPart::kSteadyService) = service - compile - load;
    at(split, SlowPart::kRecompileStall) = compile;
    at(split, SlowPart::kCacheLoad) = load;

    std::int64_t wait = latency_of(sample) - service;
    const std::int64_t batching =
        std::clamp<std::int64_t>(sample.batch_wait_ns, 0, std::max<std::int64_t>(wait, 0));
    at(split, SlowPart::kBatchingDelay) = batching;
    wait -= batching;
    const std::int64_t queue =
        std::clamp<std::int64_t>(busy_until - sample.due_ns, 0, std::max<std::int64_t>(wait, 0));
    const std::int64_t queue_without =
        std::clamp<std::int64_t>(busy_without_stall - sample.due_ns, 0, queue);
    at(split, SlowPart::kQueueFromLoad) = queue_without;
    at(split, SlowPart::kQueueBehindStall) = queue - queue_without;
    at(split, SlowPart::kOther) = wait - queue;

    // The replay keeps the wake-up delay (other) of this request, and drops its stall.
    const std::int64_t begin =
        std::max(busy_without_stall, sample.due_ns) + batching + (wait - queue);
    busy_without_stall = begin + service - compile - load;
    busy_until = sample.done_ns;
    splits.push_back(split);
  }
  return splits;
}

TailSplit split_tail(std::span<const std::vector<RawSample>> trials, double q) {
  std::vector<double> latencies;
  for (const auto& trial : trials) {
    for (const RawSample& sample : trial)
      latencies.push_back(static_cast<double>(latency_of(sample)));
  }
  TailSplit tail;
  if (latencies.empty()) return tail;
  tail.latency_ns = quantile(std::move(latencies), q);
  double total = 0;
  for (const auto& trial : trials) {
    const std::vector<SlowSplit> splits = split_latencies(trial);
    for (std::size_t i = 0; i < trial.size(); ++i) {
      if (static_cast<double>(latency_of(trial[i])) < tail.latency_ns) continue;
      ++tail.requests;
      for (std::size_t part = 0; part < kSlowParts; ++part) {
        tail.share[part] += static_cast<double>(splits[i][part]);
        total += static_cast<double>(splits[i][part]);
      }
    }
  }
  if (total > 0) {
    for (double& share : tail.share) share /= total;
  }
  return tail;
}

}  // namespace breakeven
