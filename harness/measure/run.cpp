#include "harness/measure/run.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/hash.h"
#include "compiler/support/subprocess.h"
#include "compiler/support/text.h"
#include "harness/measure/begin_results.h"
#include "harness/measure/environment.h"
#include "harness/measure/resume.h"
#include "harness/measure/run_directory.h"
#include "harness/scenario/arms.h"
#include "harness/traffic/traffic.h"

namespace breakeven {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kQuickProcesses = 2;
constexpr int kQuickAccuracyShapes = 10;

std::uint64_t mixed_seed(std::uint64_t seed, int process, const std::string& purpose) {
  // Below 2^53, so that any JSON reader keeps it whole.
  return hash_bytes(purpose + ' ' + std::to_string(process), seed).low >> 11;
}

/// The child's own words, without the program's prefix, as diagnostics of this process.
UserError relayed_error(const SubprocessResult& child) {
  std::vector<Diagnostic> diagnostics;
  for (std::string line : split(child.standard_error, '\n')) {
    constexpr std::string_view kPrefix = "breakeven: ";
    if (line.starts_with(kPrefix)) line.erase(0, kPrefix.size());
    if (!line.empty()) diagnostics.push_back({.message = line});
  }
  if (diagnostics.empty()) diagnostics.push_back({.message = "a trial " + child.describe()});
  return UserError(diagnostics, static_cast<ExitCode>(child.exit_code));
}

std::string failure_text(const SubprocessResult& child) {
  std::string text = child.describe();
  std::string said = child.standard_error;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  constexpr std::size_t kTail = 400;
  if (said.size() > kTail) said = "…" + said.substr(said.size() - kTail);
  if (!said.empty()) text += ": " + printable(said, 2 * kTail);
  return text;
}

class Run {
 public:
  Run(const Scenario& scenario, const RunOptions& options)
      : scenario_(scenario),
        options_(options),
        directory_(options.directory),
        plan_(plan_trials(scenario.arms, scenario.measure.processes)),
        estimate_(scenario.measure),
        trace_seconds_(trace_seconds(scenario)) {}

  Results measure() {
    results_ = begin_results(scenario_);
    results_.created_at = utc_now();
    results_.command = options_.command;
    results_.version = options_.version;
    results_.quick = options_.quick;
    results_.environment.merge(machine_environment());
    for (const auto& [key, value] : options_.environment) results_.environment[key] = value;
    results_.environment["model_hash"] = model_hash(scenario_);
    take_over_earlier();
    make_directories(directory_.raw());
    make_directories(directory_.work());
    save();
    for (std::size_t i = 0; i < plan_.size() && !is_interrupted(); ++i) {
      if (is_done(plan_[i])) {
        report(i, true, "");
        continue;
      }
      report(i, false, "");
      run_planned(i);
      save();
    }
    results_.interrupted = is_interrupted();
    results_.environment["load_average_end"] = load_average();
    save();
    if (!results_.interrupted) {
      std::error_code ignored;
      std::filesystem::remove_all(directory_.work(), ignored);
    }
    return results_;
  }

 private:
  bool is_interrupted() const {
    return options_.interrupted != nullptr && options_.interrupted->load();
  }

  void take_over_earlier() {
    if (options_.fresh) directory_.remove_earlier_run();
    if (!std::filesystem::exists(directory_.results())) return;
    Results earlier = read_results(directory_.results());
    if (earlier.trials.empty()) return;  // Ended before it measured anything.
    if (!options_.resume) {
      throw UserError({.file = directory_.results().string(),
                       .message = "the directory holds the results of an earlier run",
                       .fix = "Pass --resume to go on with it, --fresh to replace it, or choose "
                              "another directory"});
    }
    check_same_run(earlier, results_, directory_.results().string());
    keep_complete_trials(
        earlier,
        [&](const std::string& arm, int process) {
          return std::filesystem::exists(directory_.cold_cache(arm, process));
        },
        [&](const Trial& trial) { return has_samples(trial); });
    results_.created_at = earlier.created_at;
    results_.trials = std::move(earlier.trials);
    results_.accuracy = std::move(earlier.accuracy);
  }

  bool has_samples(const Trial& trial) const {
    try {
      (void)read_raw_samples(options_.directory / trial.raw_file, trial.raw_checksum);
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

  bool is_done(const PlannedTrial& planned) const {
    const std::vector<std::string> phases = phases_of(planned.kind);
    return std::any_of(results_.trials.begin(), results_.trials.end(), [&](const Trial& trial) {
      return trial.arm == planned.arm && trial.process == planned.process &&
             trial.phase == phases.front();
    });
  }

  void report(std::size_t index, bool skipped, const std::string& failure) const {
    if (!options_.progress) return;
    double left = 0;
    for (std::size_t i = index; i < plan_.size(); ++i) {
      if (!is_done(plan_[i]) && !is_blocked(plan_[i].arm)) left += estimate_.seconds_of(plan_[i]);
    }
    options_.progress({.index = static_cast<int>(index),
                       .total = static_cast<int>(plan_.size()),
                       .trial = plan_[index],
                       .seconds_left = left,
                       .skipped = skipped,
                       .failure = failure});
  }

  bool is_blocked(const std::string& arm) const {
    return std::any_of(
        results_.accuracy.begin(), results_.accuracy.end(),
        [&](const AccuracyRecord& record) { return record.arm == arm && !record.ok; });
  }

  TrialSpec spec_of(const PlannedTrial& planned, const std::filesystem::path& cache) const {
    const bool warmed = planned.kind == TrialKind::kWarmed;
    const std::string purpose = warmed ? "traffic" : "start";
    // Start and warmed traffic take turns along the trace and the repetitions share it out evenly;
    // the very start of a trace, where a recording often sets in slowly, is left out.
    const double place = planned.process + (warmed ? 0.25 : 0.75);
    TrialSpec spec;
    spec.scenario_file = std::filesystem::absolute(scenario_.path);
    spec.scenario_hash = scenario_.file_hash;
    spec.arm = planned.arm;
    spec.kind = planned.kind;
    spec.process = planned.process;
    spec.steady_seed = mixed_seed(scenario_.measure.seed, planned.process, "steady");
    spec.traffic_seed = mixed_seed(scenario_.measure.seed, planned.process, purpose);
    spec.traffic_offset_s = trace_seconds_ * place / scenario_.measure.processes;
    spec.measure = scenario_.measure;
    spec.accuracy_shapes = options_.quick ? kQuickAccuracyShapes : 0;
    spec.cache_dir = cache;
    spec.raw_directory = std::filesystem::absolute(directory_.raw());
    return spec;
  }

  /// The kernel cache of a trial: empty, or a copy of what the cold trial left. Always at the same
  /// path, since compilers of others may write paths into what they keep. Empty path when the cold
  /// trial left nothing.
  std::filesystem::path prepare_cache(const PlannedTrial& planned) const {
    const std::filesystem::path cold = directory_.cold_cache(planned.arm, planned.process);
    const bool needs_copy =
        planned.kind == TrialKind::kWarmDisk || planned.kind == TrialKind::kWarmed;
    const std::filesystem::path cache = cache_of_trial();
    std::error_code error;
    std::filesystem::remove_all(cache, error);
    if (planned.kind == TrialKind::kCold) std::filesystem::remove_all(cold, error);
    if (needs_copy) {
      if (!std::filesystem::exists(cold)) return {};
      std::filesystem::copy(cold, cache, std::filesystem::copy_options::recursive, error);
      if (error) {
        throw UserError({.file = cache.string(),
                         .message = "cannot copy the kernel cache: " + error.message(),
                         .fix = "Free some space or choose another directory"},
                        ExitCode::kEnvironment);
      }
    }
    make_directories(cache);
    return std::filesystem::absolute(cache);
  }

  std::filesystem::path cache_of_trial() const { return directory_.work() / "cache-of-trial"; }

  /// What a cold trial compiled, for the warm ones of its repetition.
  void keep_cache(const PlannedTrial& planned) const {
    const std::filesystem::path cold = directory_.cold_cache(planned.arm, planned.process);
    make_directories(cold.parent_path());
    std::error_code error;
    std::filesystem::rename(cache_of_trial(), cold, error);
    if (!error) return;
    throw UserError({.file = cold.string(),
                     .message = "cannot keep the kernel cache: " + error.message(),
                     .fix = "Choose another directory"},
                    ExitCode::kEnvironment);
  }

  void run_planned(std::size_t index) {
    const PlannedTrial& planned = plan_[index];
    if (is_blocked(planned.arm)) return;
    const std::filesystem::path cache = prepare_cache(planned);
    if (cache.empty()) {
      add_failure(index, "the cold trial of this repetition failed, so there is no cache");
      return;
    }
    const std::filesystem::path spec_file = directory_.work() / "trial.json";
    const std::filesystem::path out_file = directory_.work() / "trial-results.json";
    write_file_atomic(spec_file, to_text(spec_of(planned, cache)));
    std::error_code ignored;
    std::filesystem::remove(out_file, ignored);
    SubprocessOptions child_options;
    child_options.argv = options_.trial_command;
    child_options.argv.push_back(spec_file.string());
    child_options.argv.push_back(out_file.string());
    child_options.timeout = static_cast<Nanos>(scenario_.measure.trial_timeout_s * 1e9);
    child_options.interrupted = options_.interrupted;
    child_options.environment = {"BREAKEVEN_SPAWNED_AT=" + std::to_string(now_ns())};
    const SubprocessResult child = run_subprocess(child_options);
    const Nanos wall = now_ns() - child.started_at;
    if (child.ending == SubprocessResult::Ending::kInterrupted) return;
    accept(index, child, wall, out_file);
    estimate_.add(planned, static_cast<double>(wall) * 1e-9);
    drop_caches(index);
  }

  /// True when every further trial would meet the same bad input or the same full disk. What an arm
  /// of PyTorch's own, or a capture of the user's factory, meets says nothing about the others.
  bool stops_run(std::size_t index, const SubprocessResult& child) const {
    if (child.ending != SubprocessResult::Ending::kExited) return false;
    const bool captures = scenario_.model.file.empty() && !scenario_.model.factory.empty();
    if (captures || parse_peer_arm(plan_[index].arm)) return false;
    return child.exit_code == static_cast<int>(ExitCode::kBadInput) ||
           child.exit_code == static_cast<int>(ExitCode::kEnvironment);
  }

  void accept(std::size_t index, const SubprocessResult& child, Nanos wall,
              const std::filesystem::path& out_file) {
    if (stops_run(index, child)) throw relayed_error(child);
    if (child.ending != SubprocessResult::Ending::kExited || child.exit_code != 0) {
      add_failure(index, failure_text(child));
      return;
    }
    if (plan_[index].kind == TrialKind::kCold) keep_cache(plan_[index]);
    Results outcome = read_results(out_file);
    results_.environment.merge(outcome.environment);
    for (Trial& trial : outcome.trials) {
      check_weights(trial);
      trial.order = static_cast<int>(index);
      trial.peak_rss_bytes = child.peak_rss_bytes;
      trial.wall_ns = wall;
      if (!trial.ok) report(index, false, trial.failure);
      log_trial(trial);
      results_.trials.push_back(std::move(trial));
    }
    results_.accuracy.insert(results_.accuracy.end(), outcome.accuracy.begin(),
                             outcome.accuracy.end());
    sort_trials();
  }

  /// Arms that do not serve the same weights are not comparable; a factory without a seed of its
  /// own may make others in each process.
  void check_weights(Trial& trial) {
    const auto checksum = trial.counters.find("weights_checksum");
    if (checksum == trial.counters.end()) return;
    if (!weights_checksum_) weights_checksum_ = checksum->second;
    if (*weights_checksum_ == checksum->second) return;
    trial.ok = false;
    trial.failure =
        "its weights are not those of the trials before it: the factory must make the "
        "same weights in every process";
  }

  void add_failure(std::size_t index, const std::string& failure) {
    for (const std::string& phase : phases_of(plan_[index].kind)) {
      Trial trial;
      trial.arm = plan_[index].arm;
      trial.phase = phase;
      trial.process = plan_[index].process;
      trial.order = static_cast<int>(index);
      trial.failure = failure;
      log_trial(trial);
      results_.trials.push_back(std::move(trial));
    }
    report(index, false, failure);
    sort_trials();
  }

  void sort_trials() {
    std::stable_sort(results_.trials.begin(), results_.trials.end(),
                     [](const Trial& a, const Trial& b) { return a.order < b.order; });
  }

  /// The last trial of a repetition has no more use for its caches.
  void drop_caches(std::size_t index) const {
    const bool last = index + 1 == plan_.size() || plan_[index + 1].process != plan_[index].process;
    if (!last) return;
    std::error_code ignored;
    for (const std::string& arm : scenario_.arms) {
      if (plan_[index].kind == TrialKind::kWarmed) {
        std::filesystem::remove_all(directory_.cold_cache(arm, plan_[index].process), ignored);
      }
    }
  }

  void log_trial(const Trial& trial) const {
    Json line = {{"at", utc_now()},         {"event", "trial"},         {"arm", trial.arm},
                 {"phase", trial.phase},    {"process", trial.process}, {"ok", trial.ok},
                 {"wall_ns", trial.wall_ns}};
    if (!trial.ok) line["failure"] = trial.failure;
    if (trial.first_result_ns) line["first_result_ns"] = *trial.first_result_ns;
    directory_.log(dumped(line));
    for (const CompileRecord& compile : trial.compiles) {
      directory_.log(dumped({{"event", "compile"},
                             {"arm", trial.arm},
                             {"phase", trial.phase},
                             {"process", trial.process},
                             {"trigger", compile.trigger},
                             {"shape", compile.shape},
                             {"failed_guard", compile.failed_guard},
                             {"origin", compile.origin},
                             {"duration_ns", compile.duration_ns},
                             {"kernels", compile.kernels},
                             {"compiled", compile.compiled},
                             {"from_memory", compile.from_memory},
                             {"from_disk", compile.from_disk},
                             {"misses", compile.misses}}));
    }
  }

  static std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void save() const { write_results(results_, directory_.results()); }

  const Scenario& scenario_;
  const RunOptions& options_;
  RunDirectory directory_;
  std::vector<PlannedTrial> plan_;
  TimeEstimate estimate_;
  double trace_seconds_ = 0;
  std::optional<std::int64_t> weights_checksum_;  ///< Of the first trial that told one.
  Results results_;
};

}  // namespace

Scenario effective_scenario(Scenario scenario, const RunOptions& options) {
  MeasureSpec& measure = scenario.measure;
  if (options.processes) measure.processes = *options.processes;
  if (options.seed) measure.seed = *options.seed;
  if (options.quick) {
    if (!options.processes) measure.processes = std::min(measure.processes, kQuickProcesses);
    measure.start_seconds *= 0.75;
    measure.traffic_seconds *= 0.75;
    measure.steady_requests = std::max(1, measure.steady_requests / 2);
  }
  if (measure.threads == 0) measure.threads = usable_cores();
  for (const std::string& arm : options.arms) {
    if (std::count(options.arms.begin(), options.arms.end(), arm) > 1) {
      throw UserError({.message = "--arms names an arm twice",
                       .value = '"' + arm + '"',
                       .fix = "Name each arm once"});
    }
    if (std::find(scenario.arms.begin(), scenario.arms.end(), arm) != scenario.arms.end()) continue;
    const std::string nearest = nearest_word(arm, scenario.arms);
    throw UserError({.message = "--arms names an arm that the scenario does not have",
                     .value = '"' + arm + '"',
                     .fix = nearest.empty() ? "Its arms are " + join(scenario.arms, ", ")
                                            : "Did you mean \"" + nearest + "\"?"});
  }
  if (!options.arms.empty()) scenario.arms = options.arms;
  nlohmann::json effective = nlohmann::json::parse(scenario.canonical_json);
  effective["arms"] = scenario.arms;
  effective["measure"]["processes"] = measure.processes;
  effective["measure"]["seed"] = measure.seed;
  effective["measure"]["start_seconds"] = measure.start_seconds;
  effective["measure"]["traffic_seconds"] = measure.traffic_seconds;
  effective["measure"]["steady_requests"] = measure.steady_requests;
  effective["measure"]["threads"] = measure.threads;
  scenario.canonical_json = effective.dump();
  scenario.hash = hash_bytes(scenario.hash + scenario.canonical_json).to_hex();
  return scenario;
}

double planned_seconds(const Scenario& scenario) {
  const TimeEstimate estimate(scenario.measure);
  double seconds = 0;
  for (const PlannedTrial& trial : plan_trials(scenario.arms, scenario.measure.processes)) {
    seconds += estimate.seconds_of(trial);
  }
  return seconds;
}

Results run_scenario(const Scenario& scenario, const RunOptions& options) {
  return Run(scenario, options).measure();
}

}  // namespace breakeven
