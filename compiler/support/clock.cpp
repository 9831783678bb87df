#include "compiler/support/clock.h"

#include <ctime>

namespace breakeven {
namespace {

// Sleeping wakes up to about this much late on a busy machine; the rest is spun.
constexpr Nanos kSpin = 200'000;

}  // namespace

Nanos now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<Nanos>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

void wait_until(Nanos due) {
  if (due - now_ns() > kSpin) {
    const Nanos wake = due - kSpin;
    timespec until{};
    until.tv_sec = static_cast<time_t>(wake / 1'000'000'000);
    until.tv_nsec = static_cast<long>(wake % 1'000'000'000);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
    }
  }
  while (now_ns() < due) {
  }
}

}  // namespace breakeven
