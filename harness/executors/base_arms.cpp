#include <mutex>
#include <set>

#include "compiler/support/error.h"
#include "harness/executors/executor.h"
#include "harness/executors/shape_label.h"

namespace breakeven {
namespace {

/// Answers at once: what is left of a request's time is the harness's own.
class NullExecutor final : public Executor {
 public:
  PrepareOutcome prepare() override { return {}; }
  RunOutcome run(std::span<const HostTensor>) override { return {}; }
};

/// Takes the time that the scenario's script says and computes nothing. Safe from several threads:
/// a scripted service may be told not to queue.
class ScriptedExecutor final : public Executor {
 public:
  ScriptedExecutor(const Scenario& scenario, ScriptSpec script)
      : scenario_(scenario), script_(std::move(script)) {}

  PrepareOutcome prepare() override { return {}; }

  RunOutcome run(std::span<const HostTensor> inputs) override {
    const Nanos start = now_ns();
    Nanos stall = 0;
    Nanos begin = start;
    RunOutcome outcome;
    {
      const std::lock_guard lock(mutex_);
      if (first_request_ == 0) first_request_ = start;
      begin = thawed(start);
      ++requests_;
      if (script_.first_shape_stall_ms > 0 &&
          shapes_.insert(shape_label(scenario_, inputs)).second) {
        stall = to_nanos(script_.first_shape_stall_ms * 1e-3);
        outcome.compiles.push_back(event(begin, stall, inputs));
      }
    }
    wait_until(begin + stall + to_nanos(script_.service_ms * 1e-3));
    return outcome;
  }

  Counters counters() const override {
    const std::lock_guard lock(mutex_);
    const auto shapes = static_cast<std::int64_t>(shapes_.size());
    return {{"requests", requests_}, {"recompiles", shapes > 0 ? shapes - 1 : 0}};
  }

 private:
  static Nanos to_nanos(double seconds) { return static_cast<Nanos>(seconds * 1e9); }

  /// `at`, or the end of the scripted stalls that it falls into.
  Nanos thawed(Nanos at) const {
    for (const ScriptSpec::Stall& stall : script_.stalls) {
      const Nanos from = first_request_ + to_nanos(stall.at_s);
      const Nanos until = from + to_nanos(stall.for_s);
      if (at >= from && at < until) at = until;
    }
    return at;
  }

  CompileEvent event(Nanos begin, Nanos duration, std::span<const HostTensor> inputs) const {
    CompileEvent event;
    event.trigger = shapes_.size() == 1 ? CompileTrigger::kFirst : CompileTrigger::kRecompile;
    event.started_at = begin;
    event.duration = duration;
    event.shape = shape_label(scenario_, inputs);
    event.origin = "script";
    event.kernels = 1;
    event.compiled = 1;
    event.stages.push_back({"compile", duration});
    return event;
  }

  const Scenario& scenario_;
  ScriptSpec script_;
  mutable std::mutex mutex_;
  Nanos first_request_ = 0;
  std::int64_t requests_ = 0;
  std::set<std::string> shapes_;
};

std::unique_ptr<Executor> make_scripted(const std::string&, const ExecutorContext& context) {
  const Scenario& scenario = *context.scenario;
  if (!scenario.model.script) {
    throw UserError(Diagnostic{scenario.path.string(), 0, 0,
                               "the arm \"scripted\" needs service times", "scripted",
                               "Give the scenario a \"model.script\" with \"service_ms\"."});
  }
  return std::make_unique<ScriptedExecutor>(scenario, *scenario.model.script);
}

}  // namespace

ArmTable base_arms() {
  return {
      {"null", "answers at once; measures the harness itself",
       [](const std::string&, const ExecutorContext&) -> std::unique_ptr<Executor> {
         return std::make_unique<NullExecutor>();
       }},
      {"scripted", "fake service times and stalls from the scenario's model.script", make_scripted},
  };
}

}  // namespace breakeven
