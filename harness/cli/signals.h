#pragma once

#include <atomic>

namespace breakeven {

/// While it lives, SIGINT and SIGTERM set a flag instead of ending the process; a second one ends
/// it at once. One at a time.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  const std::atomic<bool>& flag() const;
};

}  // namespace breakeven
