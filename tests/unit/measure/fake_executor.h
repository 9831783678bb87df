#pragma once

#include <functional>
#include <utility>

#include "compiler/support/error.h"
#include "harness/executors/executor.h"

namespace breakeven {

/// Serves by a function of the request's number.
class FakeExecutor final : public Executor {
 public:
  explicit FakeExecutor(std::function<RunOutcome(int)> serve) : serve_(std::move(serve)) {}
  PrepareOutcome prepare() override { return prepared; }
  RunOutcome run(std::span<const HostTensor>) override { return serve_(count_++); }
  PrepareOutcome prepared;

 private:
  std::function<RunOutcome(int)> serve_;
  int count_ = 0;
};

inline RunOutcome serve_for(Nanos duration) {
  wait_until(now_ns() + duration);
  return {};
}

/// A compile of `duration` inside a request.
inline RunOutcome compile_for(Nanos duration, int compiled) {
  RunOutcome outcome;
  CompileEvent event;
  event.started_at = now_ns();
  event.duration = duration;
  event.kernels = 1;
  event.compiled = compiled;
  event.from_disk = 1 - compiled;
  wait_until(now_ns() + duration);
  outcome.compiles.push_back(event);
  return outcome;
}

}  // namespace breakeven
