#include "harness/measure/runner.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "compiler/support/error.h"
#include "compiler/support/text.h"
#include "reports/stats/stats.h"

namespace breakeven {
namespace {

/// Serves without recording; `compiles` of the outcome are appended to `records`.
RawSample serve_unrecorded(Executor& executor, const Workload& workload, const Job& job,
                           Nanos origin, std::uint32_t flags, std::vector<CompileRecord>& records,
                           std::string& failure) {
  RawSample sample{.id = job.id, .due_ns = job.due, .shape = job.shape, .flags = flags};
  const std::vector<HostTensor>& inputs = workload.inputs(job.shape);
  const Nanos start = now_ns();
  try {
    const RunOutcome outcome = executor.run(inputs);
    sample.done_ns = now_ns() - origin;
    for (const CompileEvent& event : outcome.compiles) {
      // An event that compiled nothing spent its time on fetching kernels.
      (event.compiled > 0 ? sample.compile_ns : sample.cache_load_ns) += event.duration;
      records.push_back(record_of(event, job.id));
    }
    if (!outcome.compiles.empty()) sample.flags |= kSampleCompiled;
    if (outcome.fell_back) sample.flags |= kSampleFellBack;
  } catch (const UserError& error) {
    sample.done_ns = now_ns() - origin;
    sample.flags |= kSampleFailed;
    if (failure.empty()) failure = error.what();
  }
  sample.start_ns = start - origin;
  sample.sent_ns = sample.start_ns;
  return sample;
}

/// Lets the calling thread run as soon as it wakes, where the system allows that: a sender that
/// waits behind the server's own threads is late. What cannot be had is judged by check_generator.
void prefer_this_thread() {
  const sched_param least{.sched_priority = 1};
  if (::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &least) == 0) return;
  constexpr int kNice = -15;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
}

/// Threads that serve what is queued; joined at the end of the scope.
class WorkerPool {
 public:
  WorkerPool(std::size_t size, std::function<void(const Job&, Nanos sent)> serve)
      : serve_(std::move(serve)) {
    for (std::size_t i = 0; i < size; ++i) workers_.emplace_back([this] { work(); });
  }
  ~WorkerPool() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  void post(const Job& job, Nanos sent) {
    {
      const std::lock_guard lock(mutex_);
      queue_.emplace_back(job, sent);
    }
    ready_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return closed_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const auto [job, sent] = queue_.front();
      queue_.pop_front();
      lock.unlock();
      serve_(job, sent);
    }
  }

  std::function<void(const Job&, Nanos)> serve_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::pair<Job, Nanos>> queue_;
  bool closed_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace

CompileRecord record_of(const CompileEvent& event, std::int64_t request) {
  CompileRecord record;
  record.trigger = event.trigger == CompileTrigger::kFirst ? "first" : "recompile";
  record.at_ns = event.started_at;
  record.duration_ns = event.duration;
  record.request = request;
  record.shape = event.shape;
  record.failed_guard = event.failed_guard;
  record.origin = event.origin;
  record.kernels = event.kernels;
  record.compiled = event.compiled;
  record.from_memory = event.from_memory;
  record.from_disk = event.from_disk;
  record.misses = event.misses;
  for (const Stage& stage : event.stages) record.stages.push_back({stage.name, stage.duration});
  return record;
}

RawSample serve(Executor& executor, const Workload& workload, const Job& job, LoopLog& log,
                std::uint32_t flags) {
  const RawSample sample =
      serve_unrecorded(executor, workload, job, log.origin, flags, log.compiles, log.first_failure);
  log.samples.add(sample);
  return sample;
}

void run_open_loop(Executor& executor, const Workload& workload, std::span<const Job> jobs,
                   Nanos first_due, LoopLog& log) {
  std::vector<Nanos> sent(jobs.size());
  std::atomic<std::size_t> sent_count{0};
  const Nanos zero = log.origin + first_due;
  std::jthread generator([&] {
    prefer_this_thread();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      wait_until(zero + jobs[i].due);
      sent[i] = now_ns() - log.origin;
      sent_count.store(i + 1, std::memory_order_release);
      sent_count.notify_one();
    }
  });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (std::size_t ready = sent_count.load(std::memory_order_acquire); ready <= i;
         ready = sent_count.load(std::memory_order_acquire)) {
      sent_count.wait(ready, std::memory_order_acquire);
    }
    Job job = jobs[i];
    job.due += first_due;
    RawSample sample =
        serve_unrecorded(executor, workload, job, log.origin, 0, log.compiles, log.first_failure);
    sample.sent_ns = sent[i];
    log.samples.add(sample);
  }
}

void run_parallel_open_loop(Executor& executor, const Workload& workload, std::span<const Job> jobs,
                            Nanos first_due, LoopLog& log) {
  constexpr std::size_t kMostThreads = 1024;
  std::mutex mutex;
  WorkerPool pool(std::min(jobs.size(), kMostThreads), [&](const Job& job, Nanos sent) {
    std::vector<CompileRecord> compiles;
    std::string failure;
    RawSample sample = serve_unrecorded(executor, workload, job, log.origin, 0, compiles, failure);
    sample.sent_ns = sent;
    const std::lock_guard lock(mutex);
    log.samples.add(sample);
    log.compiles.insert(log.compiles.end(), compiles.begin(), compiles.end());
    if (log.first_failure.empty()) log.first_failure = failure;
  });
  for (Job job : jobs) {
    job.due += first_due;
    wait_until(log.origin + job.due);
    pool.post(job, now_ns() - log.origin);
  }
}

void run_closed_loop(Executor& executor, const Workload& workload,
                     const std::function<std::int32_t()>& next_shape, int clients,
                     std::int64_t requests, double seconds, LoopLog& log) {
  const Nanos begin = now_ns() - log.origin;
  const Nanos end = begin + static_cast<Nanos>(seconds * 1e9);
  std::deque<Nanos> waiting(static_cast<std::size_t>(clients), begin);
  for (std::int64_t id = 0; id < requests && !log.samples.is_full(); ++id) {
    const Nanos due = waiting.front();
    waiting.pop_front();
    const std::int32_t shape = next_shape();
    // A lone client sends when it is ready: what the loop itself takes between is no latency.
    const Nanos sent = clients == 1 ? now_ns() - log.origin : due;
    if (sent >= end) return;
    RawSample sample = serve_unrecorded(executor, workload, {id, sent, shape}, log.origin, 0,
                                        log.compiles, log.first_failure);
    sample.sent_ns = sent;
    log.samples.add(sample);
    waiting.push_back(sample.done_ns);
    if (sample.done_ns >= end) return;
  }
}

GeneratorCheck check_generator(std::span<const RawSample> samples, Nanos first_due,
                               double schedule_s) {
  GeneratorCheck check;
  if (samples.empty() || schedule_s <= 0) {
    check.valid = false;
    check.reason = "no request was due in the time given";
    return check;
  }
  std::vector<double> latencies;
  double wasted_ns = 0;  // The server was free, a request was due, and yet it did not start.
  Nanos last_done = 0;
  for (const RawSample& sample : samples) {
    latencies.push_back(static_cast<double>(sample.done_ns - sample.due_ns));
    const Nanos could_start = std::max(sample.due_ns, last_done);
    wasted_ns += static_cast<double>(std::max<Nanos>(0, sample.start_ns - could_start));
    last_done = std::max(last_done, sample.done_ns);
  }
  const double tolerance = std::max(100e3, 0.01 * quantile(std::move(latencies), 0.5));
  const auto late = std::count_if(samples.begin(), samples.end(), [&](const RawSample& sample) {
    return static_cast<double>(sample.sent_ns - sample.due_ns) > tolerance;
  });
  const double count = static_cast<double>(samples.size());
  const double wall_s = std::max(schedule_s, static_cast<double>(last_done - first_due) * 1e-9);
  check.asked_rate_per_s = count / schedule_s;
  check.achieved_rate_per_s = count / wall_s;
  check.late_share = static_cast<double>(late) / count;
  const double wasted_share = wasted_ns * 1e-9 / wall_s;
  if (check.late_share > 0.01) {
    check.valid = false;
    check.reason = "generator-bound: " + format_double(std::round(check.late_share * 1000) / 10) +
                   " % of sends were late";
  } else if (wall_s > 1.01 * schedule_s && wasted_share > 0.05) {
    check.valid = false;
    check.reason = "starved: the server was free " + format_double(std::round(wasted_share * 100)) +
                   " % of the time while requests were due, so other work held the processor";
  } else if (wall_s > 1.25 * schedule_s) {
    check.valid = false;
    check.reason =
        "server-bound: " + format_double(std::round(check.achieved_rate_per_s * 10) / 10) + " of " +
        format_double(std::round(check.asked_rate_per_s * 10) / 10) +
        " requests/s were served, so the queue grows without end";
  }
  return check;
}

}  // namespace breakeven
