#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/dtype.h"
#include "compiler/support/clock.h"
#include "compiler/support/error.h"

namespace breakeven {

/// Sizes of the named symbolic dims of one request, in the order of Scenario::dims.
using ShapeBinding = std::vector<std::int64_t>;

struct DimSpec {
  std::string name;  ///< "batch", "length".
  std::int64_t min = 1;
  std::int64_t max = 0;
};

/// One model input. Each size is a dim name or a number.
struct InputSpec {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::string> sizes;  ///< Dim name, or decimal text of a fixed size.
  double fill_min = 0;             ///< Uniform fill; integers inclusive of both ends.
  double fill_max = 1;
  int line = 0, column = 0;  ///< Where the scenario file names it.
};

/// The number that one of an input's sizes is; nothing for the name of a dim.
std::optional<std::int64_t> fixed_size(const std::string& size);

/// Fake service for the scripted executor.
struct ScriptSpec {
  double service_ms = 1.0;          ///< Default service time of a request.
  double first_shape_stall_ms = 0;  ///< Extra on the first request of each shape (a "compile").
  struct Stall {
    double at_s = 0;
    double for_s = 0;
  };
  std::vector<Stall> stalls;           ///< Frozen from at_s for for_s after the first request.
  bool unlimited_parallelism = false;  ///< Requests do not queue behind one another.
};

struct ModelSpec {
  std::string name;
  std::string file;                      ///< Absolute path; empty for null and scripted.
  std::string factory;                   ///< Python MODULE:FUNCTION that makes the model, or empty.
  std::vector<std::string> export_args;  ///< How scripts/export_model.py makes `file`.
  std::optional<ScriptSpec> script;
};

/// Where the value of one dim of each request comes from.
struct DimSource {
  enum class Kind : std::uint8_t { kFixed, kHistogram, kTraceColumn, kList, kLogNormal };
  Kind kind = Kind::kFixed;
  std::int64_t fixed = 1;
  std::string file;  ///< Absolute path of the CSV of kHistogram and kTraceColumn.
  std::string value_column, count_column;    ///< Of kHistogram; value_column of kTraceColumn.
  std::map<std::string, std::string> where;  ///< Keep rows whose column equals the text.
  std::vector<std::pair<std::int64_t, double>> list;  ///< (size, weight) of kList.
  double mu = 0, sigma = 0;                           ///< Of kLogNormal, of ln(size).
};

struct TrafficSpec {
  enum class Kind : std::uint8_t { kTrace, kPoisson, kGamma, kClosedLoop };
  Kind kind = Kind::kPoisson;
  std::string file, time_column;  ///< Of kTrace; the file as an absolute path.
  double rate_per_s =
      0;            ///< Of kTrace: the stamps are scaled to this mean, burstiness kept; 0: as is.
  double cv = 1;    ///< Of kGamma.
  int clients = 1;  ///< Of kClosedLoop.
  std::string origin;  ///< Of the rate: measured | given | assumed.
};

struct PriceSpec {
  double usd_per_hour = 0;
  std::string device, date, source;
  std::string origin;  ///< "given" or "assumed".
};

struct LifeSpec {
  double restarts_per_day = 1;
  std::string origin, source;  ///< origin: measured | assumed | given.
  bool cache_survives_restart = false;
};

struct MeasureSpec {
  int processes = 5;               ///< Trials per (arm, phase).
  double start_seconds = 8;        ///< Open-loop time right after a cold or warm start.
  int start_cap_requests = 1000;   ///< "never steady" past it.
  int steady_requests = 100;       ///< Closed-loop requests per trial, the same for all arms.
  double steady_cap_seconds = 60;  ///< A closed loop that takes longer is void.
  double traffic_seconds = 10;     ///< Open-loop time per trial after warm-up.
  double warmup_coverage = 0.8;    ///< Warm-up serves the likeliest shapes up to this share.
  int warmup_shapes = 64;          ///< At most so many.
  double accuracy_seconds = 60;    ///< Cap on the accuracy check of one arm.
  int threads = 0;                 ///< Intra-op threads; 0: all cores.
  double trial_timeout_s = 300;
  std::uint64_t seed = 1;
};

/// A scenario file, checked. Paths in the file are relative to its own directory; here they are
/// absolute.
struct Scenario {
  std::filesystem::path path;
  std::string name, question;
  ModelSpec model;
  std::vector<DimSpec> dims;
  std::vector<InputSpec> inputs;
  std::map<std::string, DimSource>
      shapes;                             ///< By dim name; a dim without a source is fixed at min.
  std::string shape_order = "resampled";  ///< or "published".
  TrafficSpec traffic;
  int max_batch = 1;  ///< Batching: 1 = none.
  double max_delay_ms = 0;
  double slo_p99_ms = 0;  ///< 0: none.
  std::string slo_source;
  std::vector<std::string> arms;  ///< First is the baseline.
  LifeSpec life;
  PriceSpec price;
  std::string policy = "balanced";
  std::string policy_json;  ///< Text of the policy that `policy` names.
  double engineer_days = 3, usd_per_engineer_day = 0;
  MeasureSpec measure;
  std::string canonical_json;  ///< Effective configuration, defaults filled in, keys sorted.
  /// Hash128 hex of canonical_json, the policy and every data file; the model's file is hashed by
  /// the run, since reading it would disturb a cold start.
  std::string hash;
  std::string file_hash;  ///< `hash` as loaded, before a run's options changed anything.
};

/// Loads and checks a scenario and the data files it names. Throws one UserError with every fault.
/// The model's file need not exist yet.
Scenario load_scenario(const std::filesystem::path& path);

/// What a new scenario takes from a model file.
struct ModelSignature {
  std::string file;
  std::vector<DimSpec> dims;
  std::vector<std::int64_t> usual_sizes;  ///< Of each dim, as seen at export.
  std::vector<InputSpec> inputs;
};

/// Text of a commented starting scenario for `breakeven new`: of `model` under the arms that need
/// nothing but this program, or without one of a scripted service that runs at once.
std::string new_scenario_text(std::string_view name, const ModelSignature* model = nullptr);

/// JSON Schema (draft 2020-12) of scenario files, the same text as scenarios/scenario.schema.json.
std::string scenario_schema();

}  // namespace breakeven
