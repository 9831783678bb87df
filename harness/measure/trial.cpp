#include "harness/measure/trial.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/support/check.h"
#include "compiler/support/error.h"
#include "compiler/support/text.h"
#include "harness/measure/accuracy.h"
#include "harness/measure/runner.h"
#include "harness/traffic/traffic.h"
#include "reports/stats/stats.h"

namespace breakeven {
namespace {

/// Between making the inputs and the first due request, so that the generator starts in time.
constexpr Nanos kLeadIn = 20'000'000;

/// Adds stages of the same name; keeps the order of first appearance.
void add_stage(std::vector<StageTime>& stages, const std::string& name, std::int64_t ns) {
  for (StageTime& stage : stages) {
    if (stage.name == name) {
      stage.ns += ns;
      return;
    }
  }
  stages.push_back({name, ns});
}

/// First sample from which the series is steady, or nothing. A process that still compiles is not
/// steady, however level its times look.
std::optional<std::size_t> steady_from(std::span<const RawSample> samples) {
  constexpr std::size_t kFewest = 20;
  if (samples.size() < kFewest) return std::nullopt;
  std::vector<double> service;
  std::vector<std::int32_t> shapes;
  std::size_t after_compile = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    service.push_back(static_cast<double>(samples[i].done_ns - samples[i].start_ns));
    shapes.push_back(samples[i].shape);
    if ((samples[i].flags & kSampleCompiled) != 0) after_compile = i + 1;
  }
  const SteadyState found = find_steady_state(service, shapes);
  if (!found.start) return std::nullopt;
  const std::size_t start = std::max(static_cast<std::size_t>(*found.start), after_compile);
  // The last fifth is what steadiness is judged by; a compile inside it leaves nothing to judge.
  if (start > samples.size() - samples.size() / 5) return std::nullopt;
  return start;
}

class TrialBody {
 public:
  TrialBody(const TrialSpec& spec, const Scenario& scenario, const ArmTable& arms,
            const ProcessStamps& stamps)
      : spec_(spec),
        scenario_(scenario),
        stamps_(stamps),
        context_{.scenario = &scenario_,
                 .cache_dir = spec.cache_dir,
                 .threads = spec.measure.threads,
                 .verify = spec.kind == TrialKind::kAccuracy || spec.kind == TrialKind::kPriming},
        workload_(scenario_, spec.measure.seed),
        distribution_(shape_distribution(scenario_)) {
    const ArmKind* kind = find_arm(arms, spec.arm);
    if (kind == nullptr) {
      std::vector<std::string> known;
      for (const ArmKind& one : arms) known.push_back(one.prefix);
      throw UserError({.file = scenario_.path.string(),
                       .message = "this build does not have the arm",
                       .value = '"' + spec.arm + '"',
                       .fix = "It has " + join(known, ", ")});
    }
    first_shape_ = workload_.add(distribution_.front().shape);
    executor_ = kind->make(spec.arm, context_);
  }

  Results run(const MakeAccuracyReference& make_reference) {
    Results results;
    results.arms = {spec_.arm};
    start();
    switch (spec_.kind) {
      case TrialKind::kPriming:
        results.trials.push_back(finish("priming", false));
        break;
      case TrialKind::kAccuracy:
        results.accuracy = check_accuracy(make_reference);
        results.trials.push_back(finish("accuracy", false));
        break;
      case TrialKind::kCold:
      case TrialKind::kWarmDisk: {
        serve_traffic(spec_.measure.start_seconds,
                      static_cast<std::size_t>(spec_.measure.start_cap_requests));
        find_steady();
        results.trials.push_back(finish(std::string(name_of(spec_.kind)), true));
        break;
      }
      case TrialKind::kWarmed:
        warm_up();
        serve_closed_loop();
        results.trials.push_back(finish("steady", true));
        trial_ = {};
        log_.reset();
        serve_traffic(spec_.measure.traffic_seconds, SIZE_MAX);
        results.trials.push_back(finish("traffic", true));
        break;
    }
    results.environment = executor_->facts();
    return results;
  }

 private:
  /// prepare() and the first request, split by stage from the parent's spawn on.
  void start() {
    add_stage(trial_.stages, "process_start", stamps_.entered_at - stamps_.spawned_at);
    const PrepareOutcome prepared = executor_->prepare();
    std::int64_t compiler_ns = 0;
    log_.emplace(1);
    for (const CompileEvent& event : prepared.compiles)
      log_->compiles.push_back(record_of(event, -1));
    for (const Stage& stage : prepared.stages) add_stage(trial_.stages, stage.name, stage.duration);
    log_->origin = now_ns();
    const RawSample first = serve(*executor_, workload_, {0, 0, first_shape_}, *log_, kSampleFirst);
    const Nanos first_result_at = log_->origin + first.done_ns;
    if ((first.flags & kSampleFailed) != 0) {
      throw UserError({.file = scenario_.path.string(),
                       .message = "the first request (" + workload_.names()[0] +
                                  ") fails: " + log_->first_failure,
                       .fix = "Check the model's inputs and the dims' ranges"});
    }
    for (const CompileRecord& record : log_->compiles) {
      compiler_ns += record.duration_ns;
      for (const StageTime& stage : record.stages) add_stage(trial_.stages, stage.name, stage.ns);
    }
    const std::int64_t inside = first.compile_ns + first.cache_load_ns;
    add_stage(trial_.stages, "first_run", first.done_ns - first.start_ns - inside);
    trial_.first_result_ns = first_result_at - stamps_.spawned_at;
    trial_.compiler_ns = compiler_ns;
    std::int64_t covered = 0;
    for (const StageTime& stage : trial_.stages) covered += stage.ns;
    add_stage(trial_.stages, "unattributed", *trial_.first_result_ns - covered);
    first_ = first;
  }

  bool has_closed_traffic() const {
    return scenario_.traffic.kind == TrafficSpec::Kind::kClosedLoop;
  }

  /// Open (or, when the scenario says so, closed) traffic from now on, appended to the first
  /// request's log when the process has only just started.
  void serve_traffic(double seconds, std::size_t most) {
    const bool just_started = log_.has_value();
    std::vector<Request> requests =
        make_requests(scenario_, spec_.traffic_seed, seconds, spec_.traffic_offset_s);
    double schedule_s = seconds;
    if (requests.size() > most) {
      requests.resize(most);
      schedule_s = static_cast<double>(requests.back().due) * 1e-9;
    }
    std::vector<Job> jobs;
    jobs.reserve(requests.size());
    for (const Request& request : requests) {
      jobs.push_back(
          {request.id + (just_started ? 1 : 0), request.due, workload_.add(request.shape)});
    }
    constexpr std::size_t kMostClosed = 500'000;
    const std::size_t capacity = has_closed_traffic() ? std::min(most, kMostClosed) : jobs.size();
    LoopLog log(capacity + 1);
    log.origin = now_ns();
    if (just_started) {
      log.origin = log_->origin;
      log.compiles = std::move(log_->compiles);
      log.samples.add(first_);
    }
    if (has_closed_traffic()) {
      serve_closed_traffic(seconds, log);
    } else {
      const Nanos first_due = now_ns() - log.origin + kLeadIn;
      const bool parallel =
          spec_.arm == "scripted" && scenario_.model.script->unlimited_parallelism;
      (parallel ? run_parallel_open_loop : run_open_loop)(*executor_, workload_, jobs, first_due,
                                                          log);
      log_.emplace(std::move(log));
      samples_ = log_->samples.take();
      const std::span<const RawSample> sent = std::span(samples_).subspan(just_started ? 1 : 0);
      trial_.generator = check_generator(sent, first_due, schedule_s);
      return;
    }
    log_.emplace(std::move(log));
    samples_ = log_->samples.take();
  }

  void serve_closed_traffic(double seconds, LoopLog& log) {
    ShapeStream stream(scenario_, spec_.traffic_seed);
    for (const WeightedShape& shape : distribution_) {
      if (workload_.names().size() >= kMostPrepared) break;
      workload_.add(shape.shape);
    }
    run_closed_loop(
        *executor_, workload_, [&] { return workload_.add(stream.next()); },
        scenario_.traffic.clients, INT64_MAX, seconds, log);
  }

  /// Serves the likeliest shapes twice: once to compile, once warm.
  void warm_up() {
    double covered = 0;
    std::vector<std::int32_t> shapes;
    for (const WeightedShape& shape : distribution_) {
      const bool enough = covered >= spec_.measure.warmup_coverage - 1e-12;
      if (enough || shapes.size() >= static_cast<std::size_t>(spec_.measure.warmup_shapes)) break;
      shapes.push_back(workload_.add(shape.shape));
      covered += shape.probability;
    }
    LoopLog log(2 * shapes.size());
    log.origin = now_ns();
    for (int round = 0; round < 2; ++round) {
      for (const std::int32_t shape : shapes) serve(*executor_, workload_, {-1, 0, shape}, log);
    }
    warmup_ns_ = now_ns() - log.origin;
    warmup_shapes_ = static_cast<std::int64_t>(shapes.size());
    covered_ppm_ = static_cast<std::int64_t>(covered * 1e6);
    warmup_compiles_ = std::move(log_->compiles);
    warmup_compiles_.insert(warmup_compiles_.end(), log.compiles.begin(), log.compiles.end());
    for (CompileRecord& record : warmup_compiles_) record.request = -1;
  }

  /// A fixed count of requests, so that arms are compared shape by shape.
  void serve_closed_loop() {
    const auto requests = static_cast<std::size_t>(spec_.measure.steady_requests);
    ShapeStream stream(scenario_, spec_.steady_seed);
    std::vector<std::int32_t> shapes;
    for (std::size_t i = 0; i < requests; ++i) shapes.push_back(workload_.add(stream.next()));
    LoopLog log(requests);
    log.origin = now_ns();
    std::size_t next = 0;
    run_closed_loop(
        *executor_, workload_, [&] { return shapes[next++]; }, 1,
        static_cast<std::int64_t>(requests), spec_.measure.steady_cap_seconds, log);
    warmup_compiles_.insert(warmup_compiles_.end(), log.compiles.begin(), log.compiles.end());
    log.compiles = std::move(warmup_compiles_);
    log_.emplace(std::move(log));
    samples_ = log_->samples.take();
    if (samples_.size() < requests) {
      trial_.failure = "only " + std::to_string(samples_.size()) + " of " +
                       std::to_string(requests) + " closed-loop requests were served in " +
                       format_double(spec_.measure.steady_cap_seconds) + " s";
    }
    trial_.counters["warmup_requests"] = 2 * warmup_shapes_;
    trial_.counters["warmup_shapes"] = warmup_shapes_;
    trial_.counters["warmup_ns"] = warmup_ns_;
    trial_.counters["warmup_coverage_ppm"] = covered_ppm_;
  }

  void find_steady() {
    const std::optional<std::size_t> from = steady_from(samples_);
    if (!from) return;
    trial_.steady_after_requests = static_cast<std::int64_t>(*from);
    trial_.steady_after_ns = log_->origin + samples_[*from].start_ns - stamps_.spawned_at;
  }

  std::vector<AccuracyRecord> check_accuracy(const MakeAccuracyReference& make_reference) {
    std::vector<AccuracyRecord> records;
    const std::unique_ptr<AccuracyReference> reference = make_reference(context_);
    const Nanos end = now_ns() + static_cast<Nanos>(spec_.measure.accuracy_seconds * 1e9);
    const std::size_t most = spec_.accuracy_shapes > 0
                                 ? static_cast<std::size_t>(spec_.accuracy_shapes)
                                 : distribution_.size();
    double covered = 0;
    for (const WeightedShape& shape : distribution_) {
      if (records.size() >= most || (!records.empty() && now_ns() > end)) break;
      const std::vector<HostTensor> inputs =
          make_inputs(scenario_, shape.shape, spec_.measure.seed);
      AccuracyOutputs outputs;
      outputs.eager = reference->run_eager(inputs);
      outputs.eager_again = reference->run_eager(inputs);
      outputs.fp64 = reference->run_fp64(inputs);
      outputs.candidate = executor_->run(inputs).outputs;
      records.push_back(judge_accuracy(spec_.arm, shape_text(scenario_, shape.shape), outputs));
      covered += shape.probability;
    }
    trial_.counters["accuracy_shapes"] = static_cast<std::int64_t>(records.size());
    trial_.counters["accuracy_shapes_total"] = static_cast<std::int64_t>(distribution_.size());
    trial_.counters["accuracy_coverage_ppm"] = static_cast<std::int64_t>(covered * 1e6);
    return records;
  }

  void count_samples() {
    std::int64_t failed = 0;
    std::int64_t within_slo = 0;
    std::int64_t compiled = 0;
    std::set<std::int32_t> late_shapes;
    for (const RawSample& sample : samples_) {
      const bool is_failed = (sample.flags & kSampleFailed) != 0;
      failed += is_failed;
      within_slo += !is_failed && static_cast<double>(sample.done_ns - sample.due_ns) <=
                                      scenario_.slo_p99_ms * 1e6;
      if ((sample.flags & kSampleCompiled) != 0) ++compiled, late_shapes.insert(sample.shape);
    }
    const auto covered = std::count_if(samples_.begin(), samples_.end(), [&](const auto& sample) {
      return !late_shapes.contains(sample.shape);
    });
    trial_.counters["requests"] = static_cast<std::int64_t>(samples_.size());
    trial_.counters["requests_failed"] = failed;
    trial_.counters["requests_that_compiled"] = compiled;
    // Their program existed before the first sample: what warm-up, or the start, left to do is the
    // rest.
    trial_.counters["requests_covered_by_warmup"] = covered;
    if (scenario_.slo_p99_ms > 0) trial_.counters["requests_within_slo"] = within_slo;
  }

  Trial finish(const std::string& phase, bool with_samples) {
    trial_.arm = spec_.arm;
    trial_.phase = phase;
    trial_.process = spec_.process;
    trial_.seed = phase == "steady" ? spec_.steady_seed : spec_.traffic_seed;
    trial_.shapes = workload_.names();
    if (with_samples) count_samples();
    for (const auto& [name, value] : executor_->counters())
      trial_.counters.try_emplace(name, value);
    for (const Fallback& fallback : executor_->fallbacks()) {
      trial_.fallbacks.push_back(
          {fallback.what, fallback.reason, fallback.count, fallback.whole_request});
    }
    if (log_) {
      trial_.compiles = std::move(log_->compiles);
      for (CompileRecord& record : trial_.compiles) record.at_ns -= stamps_.spawned_at;
      if (trial_.failure.empty() && !samples_.empty() && all_failed()) {
        trial_.failure = "every request failed: " + log_->first_failure;
      }
    }
    if (with_samples) {
      const std::string file =
          'r' + std::to_string(spec_.process) + '-' + safe_slug(spec_.arm) + '-' + phase + ".bin";
      trial_.raw_checksum = write_raw_samples(samples_, spec_.raw_directory / file);
      trial_.raw_file = "raw/" + file;
    }
    trial_.ok = trial_.failure.empty();
    return std::move(trial_);
  }

  bool all_failed() const {
    return std::all_of(samples_.begin(), samples_.end(),
                       [](const RawSample& sample) { return (sample.flags & kSampleFailed) != 0; });
  }

  static constexpr std::size_t kMostPrepared = 256;

  const TrialSpec& spec_;
  const Scenario& scenario_;
  const ProcessStamps& stamps_;
  ExecutorContext context_;
  Workload workload_;
  std::vector<WeightedShape> distribution_;
  std::unique_ptr<Executor> executor_;
  std::int32_t first_shape_ = 0;
  Trial trial_;
  RawSample first_;
  std::optional<LoopLog> log_;
  std::vector<RawSample> samples_;
  std::vector<CompileRecord> warmup_compiles_;
  std::int64_t warmup_ns_ = 0;
  std::int64_t warmup_shapes_ = 0;
  std::int64_t covered_ppm_ = 0;
};

}  // namespace

Results run_trial(const TrialSpec& spec, const ArmTable& arms,
                  const MakeAccuracyReference& make_reference, const ProcessStamps& stamps) {
  const Scenario scenario = load_scenario(spec.scenario_file);
  if (!spec.scenario_hash.empty() && spec.scenario_hash != scenario.file_hash) {
    throw UserError({.file = spec.scenario_file.string(),
                     .message = "the scenario or a file that it names has changed during the run",
                     .fix = "Start again with --fresh"});
  }
  TrialBody body(spec, scenario, arms, stamps);
  return body.run(make_reference);
}

}  // namespace breakeven
