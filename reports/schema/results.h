#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/schema/raw_samples.h"

namespace breakeven {

inline constexpr int kResultsVersion = 1;

struct StageTime {
  std::string name;
  std::int64_t ns = 0;
};

/// One compile or cache load; mirrors compiler/runtime/events.h (reports know nothing of the
/// compiler).
struct CompileRecord {
  std::string trigger;     ///< "first" or "recompile".
  std::int64_t at_ns = 0;  ///< Relative to the trial's process start.
  std::int64_t duration_ns = 0;
  std::int64_t request = -1;  ///< Raw sample id that caused it, -1 in prepare.
  std::string shape, failed_guard, origin;
  int kernels = 0, compiled = 0, from_memory = 0, from_disk = 0;
  std::vector<std::string> misses;
  std::vector<StageTime> stages;
};

struct FallbackRecord {
  std::string what, reason;
  std::int64_t count = 0;
  bool whole_request = false;
};

/// Did the open-loop generator do what was asked of it?
struct GeneratorCheck {
  double asked_rate_per_s = 0;
  double achieved_rate_per_s = 0;
  double late_share = 0;  ///< Sends later than max(100 us, 1 % of the p50).
  bool valid = true;
  std::string reason;  ///< Why not valid.
};

/// One process: one arm in one phase.
struct Trial {
  std::string arm;
  std::string phase;  ///< "priming", "accuracy", "cold", "warm_disk", "steady", "traffic".
  int process = 0;    ///< Repetition, 0-based.
  int order = 0;      ///< Position in the run's sequence of trials.
  std::uint64_t seed = 0;
  bool ok = false;
  std::string failure;                          ///< Why not ok: message, signal, time-out.
  std::vector<std::string> shapes;              ///< "batch=1 length=13", index = RawSample::shape.
  std::vector<StageTime> stages;                ///< Start-up split; sums to first_result_ns.
  std::optional<std::int64_t> first_result_ns;  ///< Process spawn to first synchronised output.
  std::optional<std::int64_t> compiler_ns;  ///< Of these, compile work (weights in memory -> first
                                            ///< result, less eager work).
  std::optional<std::int64_t> steady_after_requests;  ///< Empty: never steady within the cap.
  std::optional<std::int64_t> steady_after_ns;
  std::map<std::string, std::int64_t> counters;
  std::vector<CompileRecord> compiles;
  std::vector<FallbackRecord> fallbacks;
  std::optional<GeneratorCheck> generator;
  std::int64_t peak_rss_bytes = 0;
  std::int64_t wall_ns = 0;
  std::string raw_file;      ///< Relative to the results file; empty when there are no samples.
  std::string raw_checksum;  ///< checksum_of() the samples in it.
};

/// Accuracy of one arm on one shape, by METHOD.md's rule.
struct AccuracyRecord {
  std::string arm, shape;
  bool eager_deterministic = false;
  double rmse_eager = 0, rmse_arm = 0, limit = 0;  ///< Against fp64, largest over the outputs.
  bool masks_equal = true;                         ///< NaN/Inf in the same places as eager.
  bool ok = false;
};

/// What the shape stream of the scenario looks like, for break-even: probability per distinct
/// shape.
struct ShapeClass {
  std::string shape;
  double probability = 0;
};

/// Everything a report needs; `results.json` plus the raw files beside it.
struct Results {
  std::string created_at;  ///< ISO 8601 UTC.
  std::string command;     ///< Reproduces the run.
  std::string scenario_name, scenario_question, scenario_hash, binary_hash, version;
  std::string scenario_json;  ///< Effective configuration, canonical JSON text.
  bool quick = false;
  bool interrupted = false;
  std::vector<std::string> arms;  ///< Baseline first.
  double rate_per_s = 0;          ///< Mean arrival rate of the scenario.
  std::string rate_origin;        ///< "given", "assumed".
  double restarts_per_day = 1;
  std::string restarts_origin;
  bool cache_survives_restart = false;  ///< Which of cold and warm start a restart means.
  double slo_p99_ms = 0;                ///< 0: none.
  std::string slo_source;
  double usd_per_hour = 0;
  std::string price_device, price_date, price_source, price_origin;
  double engineer_days = 0, usd_per_engineer_day = 0;
  std::string shape_order;                ///< "published" or "resampled".
  std::string policy_json;                ///< The policy's own text.
  std::vector<ShapeClass> shape_classes;  ///< Distinct shapes of the stream, most likely first.
  std::map<std::string, std::string>
      environment;  ///< cpu, cores, governor, kernel, load, torch, ...
  std::vector<Trial> trials;
  std::vector<AccuracyRecord> accuracy;
};

/// Writes results.json (temporary name, then rename).
void write_results(const Results& results, const std::filesystem::path& file);
/// Reads and checks results.json. Throws UserError with place for a truncated, foreign, older or
/// newer file; NaN and infinities do not occur in it.
Results read_results(const std::filesystem::path& file);
/// The JSON Schema of results.json.
std::string results_schema();

/// Whole text of results.json, and back; `name` is what diagnostics call the file.
std::string results_to_json(const Results& results);
Results results_from_json(std::string_view text, const std::string& name);

}  // namespace breakeven
