#include "tests/support/synthetic_results.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "compiler/support/files.h"
#include "reports/stats/stats.h"

namespace breakeven::testing {
namespace {

constexpr double kMs = 1e6;

std::int64_t ns(double ms) { return static_cast<std::int64_t>(std::llround(ms * kMs)); }

double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

/// Plays requests through one arm in one process.
class Server {
 public:
  Server(const SyntheticArm& arm, const SyntheticOptions& options, std::uint64_t seed)
      : arm_(arm), options_(options), random_(seed) {
    speed_ = 1 + arm.process_noise * normal(random_);
  }

  void warm(int shape) { seen_.insert(shape); }

  /// Service time of one request; a new shape adds its stall and a record to `trial`.
  double serve(int shape, std::int64_t id, double at_ms, bool on_disk, Trial& trial,
               RawSample& sample) {
    const double length = 0.4 + 1.2 * (shape + 0.5) / options_.shapes;
    double service = arm_.mean_service_ms * length * speed_ *
                     std::max(0.2, 1 + arm_.service_noise * normal(random_));
    const double stall = on_disk ? arm_.reload_ms : arm_.recompile_ms;
    if (arm_.recompile_ms > 0 && seen_.insert(shape).second && stall > 0) {
      trial.compiles.push_back(record(shape, id, at_ms, stall, on_disk));
      (on_disk ? sample.cache_load_ns : sample.compile_ns) = ns(stall);
      sample.flags |= kSampleCompiled;
      service += stall;
    }
    return service;
  }

 private:
  CompileRecord record(int shape, std::int64_t id, double at_ms, double stall, bool on_disk) const {
    CompileRecord record;
    record.trigger = "recompile";
    record.at_ns = ns(at_ms);
    record.duration_ns = ns(stall);
    record.request = id;
    record.shape = "batch=1 length=" + std::to_string(shape + 8);
    record.failed_guard = "ids.size[1] == 8, got " + std::to_string(shape + 8);
    record.origin = "specialize (policy static), input ids, dim 1";
    record.kernels = 7;
    record.compiled = on_disk ? 0 : 7;
    record.from_disk = on_disk ? 7 : 0;
    if (!on_disk) record.misses = {"kernel text not seen before"};
    record.stages = {{on_disk ? "cache_load" : "compile", record.duration_ns}};
    return record;
  }

  const SyntheticArm& arm_;
  const SyntheticOptions& options_;
  Random random_;
  double speed_ = 1;
  std::set<int> seen_;
};

std::vector<ShapeClass> shape_classes(int shapes) {
  std::vector<ShapeClass> classes;
  double total = 0;
  for (int i = 0; i < shapes; ++i) total += 1.0 / (i + 1);
  for (int i = 0; i < shapes; ++i) {
    classes.push_back({"batch=1 length=" + std::to_string(i + 8), 1.0 / (i + 1) / total});
  }
  return classes;
}

int draw_shape(const std::vector<ShapeClass>& classes, Random& random) {
  double u = random.uniform();
  for (std::size_t i = 0; i < classes.size(); ++i) {
    u -= classes[i].probability;
    if (u < 0) return static_cast<int>(i);
  }
  return static_cast<int>(classes.size()) - 1;
}

void start_up(const SyntheticArm& arm, bool cold, double process, Trial& trial) {
  const double scale = 1 + 0.01 * (process - 2);
  const double total = (cold ? arm.cold_start_ms : arm.warm_start_ms) * scale;
  const double compile = (cold ? arm.compile_cold_ms : arm.compile_warm_ms) * scale;
  const double rest = total - compile;
  trial.stages = {{"load", ns(rest * 0.6)},
                  {"import", ns(rest * 0.1)},
                  {cold ? "compile" : "cache_load", ns(compile)},
                  {"first_run", ns(rest * 0.2)}};
  trial.first_result_ns = ns(total);
  std::int64_t covered = 0;
  for (const StageTime& stage : trial.stages) covered += stage.ns;
  trial.stages.push_back({"unattributed", *trial.first_result_ns - covered});
  trial.compiler_ns = ns(compile);
}

/// Closed loop when `rate_per_s` is 0, else Poisson arrivals in open loop.
void play(const SyntheticOptions& options, Server& server, const Results& results,
          std::uint64_t stream_seed, int requests, double rate_per_s, bool on_disk, Trial& trial,
          std::vector<RawSample>& samples) {
  Random random(stream_seed);
  double due = 0, free_at = 0;
  for (int i = 0; i < requests; ++i) {
    if (rate_per_s > 0) {
      due += -std::log(1 - random.uniform()) * 1000 / rate_per_s;
    } else {
      due = free_at;
    }
    RawSample sample;
    sample.id = i;
    sample.shape = draw_shape(results.shape_classes, random);
    const double start = std::max(due, free_at);
    const double service = server.serve(sample.shape, i, start, on_disk, trial, sample);
    free_at = start + service;
    sample.due_ns = ns(due);
    sample.sent_ns = ns(due) + 2000;
    sample.start_ns = ns(start) + 4000;
    sample.done_ns = std::max(ns(free_at), sample.start_ns + 1000);
    if (i == 0) sample.flags |= kSampleFirst;
    samples.push_back(sample);
  }
  if (rate_per_s > 0) {
    const double achieved = requests / (due / 1000);
    trial.generator = GeneratorCheck{.asked_rate_per_s = achieved, .achieved_rate_per_s = achieved};
  }
}

Trial make_trial(const SyntheticOptions& options, const Results& results, std::size_t arm_index,
                 const std::string& phase, int process, std::vector<RawSample>& samples) {
  const SyntheticArm& arm = options.arms[arm_index];
  Trial trial;
  trial.arm = arm.name;
  trial.phase = phase;
  trial.process = process;
  trial.seed = options.seed + static_cast<std::uint64_t>(process);
  trial.ok = true;
  for (const ShapeClass& shape : results.shape_classes) trial.shapes.push_back(shape.shape);
  const bool cold = phase == "cold";
  start_up(arm, cold, process, trial);
  Server server(arm, options,
                options.seed * 1000 + arm_index * 100 + static_cast<std::uint64_t>(process));
  const bool prepared = phase == "steady" || phase == "traffic";
  const int warm_shapes = prepared ? (options.shapes + 1) / 2 : 1;
  for (int shape = 0; shape < warm_shapes; ++shape) server.warm(shape);
  const bool traffic = phase == "traffic";
  const int requests = traffic ? static_cast<int>(options.rate_per_s * options.traffic_seconds)
                       : phase == "steady" ? options.steady_requests
                                           : options.cold_requests;
  const std::uint64_t stream =
      options.seed * 77 + static_cast<std::uint64_t>(process) * 5 + phase.size();
  play(options, server, results, stream, requests, traffic ? options.rate_per_s : 0, !cold, trial,
       samples);
  if (!prepared) {
    trial.steady_after_requests = arm.recompile_ms > 0 ? 40 : 1;
    trial.steady_after_ns =
        samples.at(static_cast<std::size_t>(*trial.steady_after_requests)).done_ns +
        *trial.first_result_ns;
  }
  const auto kernels = arm_index == 0 ? 0 : 7;
  trial.counters = {{"kernels_per_request", kernels},
                    {"extern_calls_per_request", arm_index == 0 ? 66 : 38},
                    {"recompiles", static_cast<std::int64_t>(trial.compiles.size())},
                    {"fallback_requests", 0}};
  if (kernels > 0) trial.fallbacks = {{"aten.linear.default", "left to the vendor's library", 38}};
  trial.peak_rss_bytes = static_cast<std::int64_t>((arm_index == 0 ? 410.0 : 520.0) * 1024 * 1024);
  trial.wall_ns = samples.back().done_ns + *trial.first_result_ns;
  return trial;
}

Results frame_of(const SyntheticOptions& options) {
  Results results;
  results.created_at = "2026-12-01T00:00:00Z";
  results.command = "breakeven run scenarios/" + options.scenario_name + ".json -o out/demo";
  results.scenario_name = options.scenario_name;
  results.scenario_question = "Shall the chatbot's encoder be compiled, or stay eager?";
  results.scenario_hash = "00112233445566778899aabbccddeeff";
  results.binary_hash = "ffeeddccbbaa99887766554433221100";
  results.version = "0.1.0";
  results.scenario_json =
      "{\"name\":\"synthetic\",\"slo_p99_ms\":" + std::to_string(options.slo_p99_ms) + "}";
  results.quick = options.quick;
  for (const SyntheticArm& arm : options.arms) results.arms.push_back(arm.name);
  results.rate_per_s = options.rate_per_s;
  results.rate_origin = "assumed";
  results.restarts_per_day = options.restarts_per_day;
  results.restarts_origin = "measured";
  results.slo_p99_ms = options.slo_p99_ms;
  results.usd_per_hour = options.usd_per_hour;
  results.price_device = "2 vCPU";
  results.price_date = "2026-11-09";
  results.price_source = "assumed $0.05 a vCPU-hour";
  results.price_origin = "assumed";
  results.engineer_days = 3;
  results.usd_per_engineer_day = 800;
  results.shape_order = "resampled";
  results.policy_json = options.policy_json;
  results.shape_classes = shape_classes(options.shapes);
  results.environment = {{"cpu", "made up"}, {"cores", "2"}, {"torch", "2.11.0"}};
  return results;
}

}  // namespace

std::vector<SyntheticArm> default_arms() {
  return {{.name = "eager", .mean_service_ms = 12, .cold_start_ms = 1500, .warm_start_ms = 1450},
          {.name = "fused:static",
           .mean_service_ms = 8.5,
           .cold_start_ms = 2600,
           .warm_start_ms = 1560,
           .compile_cold_ms = 1000,
           .compile_warm_ms = 40,
           .recompile_ms = 120,
           .reload_ms = 4},
          {.name = "fused:dynamic",
           .mean_service_ms = 9,
           .cold_start_ms = 2500,
           .warm_start_ms = 1550,
           .compile_cold_ms = 900,
           .compile_warm_ms = 35}};
}

Results make_synthetic(const SyntheticOptions& wanted, const std::filesystem::path& directory) {
  SyntheticOptions options = wanted;
  if (options.arms.empty()) options.arms = default_arms();
  Results results = frame_of(options);
  if (!directory.empty()) make_directories(directory / "raw");
  int order = 0;
  for (int process = 0; process < options.processes; ++process) {
    for (const std::string phase : {"cold", "warm_disk", "steady", "traffic"}) {
      for (std::size_t i = 0; i < options.arms.size(); ++i) {
        const std::size_t arm = process % 2 == 0 ? i : options.arms.size() - 1 - i;
        std::vector<RawSample> samples;
        Trial trial = make_trial(options, results, arm, phase, process, samples);
        trial.order = order++;
        trial.raw_file = "raw/" + std::to_string(trial.order) + ".bin";
        trial.raw_checksum = checksum_of(samples);
        if (!directory.empty()) write_raw_samples(samples, directory / trial.raw_file);
        results.trials.push_back(std::move(trial));
      }
    }
  }
  for (std::size_t arm = 1; arm < options.arms.size(); ++arm) {
    const double ratio = options.arms[arm].accuracy_ratio;
    for (const ShapeClass& shape : results.shape_classes) {
      results.accuracy.push_back({.arm = options.arms[arm].name,
                                  .shape = shape.shape,
                                  .eager_deterministic = true,
                                  .rmse_eager = 1e-7,
                                  .rmse_arm = ratio * 2.2e-7,
                                  .limit = 2.2e-7,
                                  .masks_equal = true,
                                  .ok = ratio <= 1});
    }
  }
  if (!directory.empty()) write_results(results, directory / "results.json");
  return results;
}

}  // namespace breakeven::testing
