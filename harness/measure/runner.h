#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/support/clock.h"
#include "harness/executors/executor.h"
#include "harness/measure/workload.h"
#include "harness/record/sample_recorder.h"
#include "reports/schema/results.h"

namespace breakeven {

/// One request to be served: `due` relative to the start of traffic, `shape` an index of the
/// workload.
struct Job {
  std::int64_t id = 0;
  Nanos due = 0;
  std::int32_t shape = 0;
};

/// What a process recorded. Times of samples are relative to `origin`, those of compile records
/// absolute.
struct LoopLog {
  explicit LoopLog(std::size_t capacity) : samples(capacity) {}
  SampleRecorder samples;
  std::vector<CompileRecord> compiles;
  Nanos origin = 0;
  std::string first_failure;  ///< Message of the first request that failed.
};

/// Serves one request and records it. A UserError of the executor is a failed request; anything
/// else is a bug or a crash and passes through.
RawSample serve(Executor& executor, const Workload& workload, const Job& job, LoopLog& log,
                std::uint32_t flags = 0);

/// Open loop: requests are due whether or not the server is free. One server, first in first out. A
/// thread of its own sends, so that a busy server cannot delay a send. Due times count from
/// log.origin + `first_due`; log.origin is the caller's.
void run_open_loop(Executor& executor, const Workload& workload, std::span<const Job> jobs,
                   Nanos first_due, LoopLog& log);

/// Open loop against a service of unlimited parallelism: each request gets a thread at once.
/// `executor.run` must be safe to call from several threads.
void run_parallel_open_loop(Executor& executor, const Workload& workload, std::span<const Job> jobs,
                            Nanos first_due, LoopLog& log);

/// Closed loop of `clients` over one server, first in first out: a client's next request is due
/// when its last is answered. Ends after `requests` or `seconds`, whichever is first (a request
/// begun is finished), or when the recorder is full.
void run_closed_loop(Executor& executor, const Workload& workload,
                     const std::function<std::int32_t()>& next_shape, int clients,
                     std::int64_t requests, double seconds, LoopLog& log);

/// Compile work as results keep it.
CompileRecord record_of(const CompileEvent& event, std::int64_t request);

/// Judges an open loop by its samples; `first_due` as given to the loop, `schedule_s` its length.
GeneratorCheck check_generator(std::span<const RawSample> samples, Nanos first_due,
                               double schedule_s);

}  // namespace breakeven
