#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reports/schema/raw_samples.h"

namespace breakeven {

/// What a slow request's latency is charged to; METHOD.md's seven, in order.
enum class SlowPart : std::uint8_t {
  kSteadyService,     ///< Its own service, compile and cache work apart.
  kRecompileStall,    ///< Its own compile.
  kCacheLoad,         ///< Its own cache load.
  kQueueBehindStall,  ///< Waiting that the compiles and cache loads of requests before it caused.
  kQueueFromLoad,     ///< The rest of waiting for the server.
  kBatchingDelay,     ///< Waiting for a batch to fill.
  kOther,             ///< Time that the server was free yet the request had not begun.
};
inline constexpr std::size_t kSlowParts = 7;
std::string_view name_of(SlowPart part);  ///< "steady_service", "recompile_stall", ...

/// Nanoseconds of one request by SlowPart; they add up to done - due exactly.
using SlowSplit = std::array<std::int64_t, kSlowParts>;

/// Splits the latency of every sample of one single-server FIFO trial (in order of due time).
/// Waiting behind a stall is the difference between the waiting that happened and the waiting of a
/// replay in which no request compiled or loaded.
std::vector<SlowSplit> split_latencies(std::span<const RawSample> samples);

/// Sum over the requests at or above the `q` quantile of latency of each trial's pool.
struct TailSplit {
  std::array<double, kSlowParts> share = {};  ///< Adds up to 1, or all 0 when there is no request.
  std::int64_t requests = 0;                  ///< Slow requests split.
  double latency_ns = 0;                      ///< The threshold.
};
TailSplit split_tail(std::span<const std::vector<RawSample>> trials, double q = 0.99);

}  // namespace breakeven
