#pragma once

#include <cstdint>

namespace breakeven {

/// Nanoseconds; as a point in time, of CLOCK_MONOTONIC, which all processes of a machine share.
using Nanos = std::int64_t;

/// Now, on CLOCK_MONOTONIC (not slewed into the past by NTP, not moved by a wall-clock step).
Nanos now_ns();

/// Sleeps, then spins the last stretch, until now_ns() >= `due`. Never returns early.
void wait_until(Nanos due);

}  // namespace breakeven
