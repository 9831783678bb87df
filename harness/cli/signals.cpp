#include "harness/cli/signals.h"

#include <csignal>

namespace breakeven {
namespace {

// A signal handler has no argument of its own, so this one flag is global.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int signal) {
  if (interrupted.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

void install(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

InterruptScope::InterruptScope() {
  interrupted = false;
  install(on_signal);
}

InterruptScope::~InterruptScope() { install(SIG_DFL); }

const std::atomic<bool>& InterruptScope::flag() const { return interrupted; }

}  // namespace breakeven
