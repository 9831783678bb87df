#pragma once

#include <cstdint>
#include <vector>

namespace breakeven {

/// What this machine can do at most, timed on `threads` threads (the caller's is one). Each returns
/// the nanoseconds of `repeats` passes, after one that is not counted.

/// memcpy of bytes / 2, which reads and writes `bytes` in all.
std::vector<double> time_copy(std::int64_t bytes, int threads, int repeats);
/// Reading `bytes` once; the same buffer every pass, so that what fits a cache comes from it.
std::vector<double> time_stream(std::int64_t bytes, int threads, int repeats);
/// `count` f32 multiply-adds on registers, as wide as the processor has them.
std::vector<double> time_fmas(std::int64_t count, int threads, int repeats);

}  // namespace breakeven
