#include "harness/measure/import_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/hash.h"
#include "harness/measure/begin_results.h"
#include "harness/measure/environment.h"
#include "harness/measure/trial.h"
#include "harness/scenario/csv.h"

namespace breakeven {
namespace {

constexpr double kLongestS = 1e7;
constexpr double kLongestMs = 1e9;

std::int64_t nanos(double value, double unit) {
  return static_cast<std::int64_t>(std::llround(value * unit));
}

/// One process of one arm in one phase, as its rows come in.
struct ImportedTrial {
  Trial trial;
  std::vector<RawSample> samples;
  std::map<std::string, std::int32_t> shapes;
};

class Import {
 public:
  explicit Import(const CsvFile& csv)
      : csv_(csv),
        arm_(csv.column("arm")),
        arrival_(csv.column("arrival_s")),
        latency_(csv.column("latency_ms")),
        shape_(csv.column("shape")),
        phase_(optional_column("phase")),
        process_(optional_column("process")),
        service_(optional_column("service_ms")),
        compile_(optional_column("compile_ms")) {}

  void read_rows() {
    for (std::size_t row = 0; row < csv_.row_count(); ++row) {
      try {
        read_row(row);
      } catch (const UserError& error) {
        faults_.insert(faults_.end(), error.diagnostics().begin(), error.diagnostics().end());
        if (faults_.size() >= 20) break;
      }
    }
    if (faults_.empty() && arms_.empty()) {
      faults_.push_back({.file = csv_.path().string(),
                         .message = "there is no request in it",
                         .fix = "Write a row a request"});
    }
    if (!faults_.empty()) throw UserError(faults_);
  }

  const std::vector<std::string>& arms() const { return arms_; }
  std::map<std::tuple<std::size_t, std::string, int>, ImportedTrial>& trials() { return trials_; }

 private:
  std::optional<std::size_t> optional_column(const std::string& name) const {
    if (!csv_.has_column(name)) return std::nullopt;
    return csv_.column(name);
  }

  std::string text(std::size_t row, std::size_t column) const {
    std::string found(csv_.field(row, column));
    if (!found.empty() && found.size() <= 200) return found;
    throw UserError(csv_.at(row, column, "this must be 1 to 200 bytes of text", "Name it"));
  }

  /// A row without a phase stands for both warm phases: service times and latencies under traffic.
  std::vector<std::string> phases_of_row(std::size_t row) const {
    if (!phase_) return {"steady", "traffic"};
    const std::string phase = text(row, *phase_);
    for (const char* known : {"cold", "warm_disk", "steady", "traffic"}) {
      if (phase == known) return {phase};
    }
    throw UserError(
        csv_.at(row, *phase_, "this is no phase", "Write cold, warm_disk, steady or traffic"));
  }

  void read_row(std::size_t row) {
    const std::string arm = text(row, arm_);
    const auto known = std::find(arms_.begin(), arms_.end(), arm);
    const auto place = static_cast<std::size_t>(known - arms_.begin());
    if (known == arms_.end()) arms_.push_back(arm);
    int process = 0;
    if (process_) {
      const double number = read_number(csv_, row, *process_, 0, 1000);
      if (number != std::floor(number)) {
        throw UserError(csv_.at(row, *process_, "a process is a whole number", "Count from 0"));
      }
      process = static_cast<int>(number);
    }
    for (const std::string& phase : phases_of_row(row)) {
      ImportedTrial& one = trials_[{place, phase, process}];
      one.trial.arm = arm;
      one.trial.phase = phase;
      one.trial.process = process;
      add_sample(row, one);
    }
  }

  void add_sample(std::size_t row, ImportedTrial& one) const {
    RawSample sample;
    sample.id = static_cast<std::int64_t>(one.samples.size());
    sample.due_ns = sample.sent_ns = nanos(read_number(csv_, row, arrival_, 0, kLongestS), 1e9);
    const double latency = read_number(csv_, row, latency_, 0, kLongestMs);
    const double service = service_ ? read_number(csv_, row, *service_, 0, kLongestMs) : latency;
    if (service > latency * (1 + 1e-9) + 1e-6) {
      throw UserError(csv_.at(row, *service_, "the service takes longer than the whole latency",
                              "Give the latency from the arrival on"));
    }
    sample.done_ns = sample.due_ns + nanos(latency, 1e6);
    sample.start_ns = sample.done_ns - nanos(std::min(service, latency), 1e6);
    if (!one.samples.empty() && sample.due_ns < one.samples.back().due_ns) {
      throw UserError(csv_.at(row, arrival_, "this request arrives before the row above it",
                              "Order the rows of each process by arrival"));
    }
    const std::string shape = text(row, shape_);
    const auto [found, is_new] =
        one.shapes.try_emplace(shape, static_cast<std::int32_t>(one.trial.shapes.size()));
    if (is_new) one.trial.shapes.push_back(shape);
    sample.shape = found->second;
    if (one.samples.empty()) sample.flags |= kSampleFirst;
    if (compile_) add_compile(row, sample, shape, one);
    one.samples.push_back(sample);
  }

  void add_compile(std::size_t row, RawSample& sample, const std::string& shape,
                   ImportedTrial& one) const {
    const double compile = read_number(csv_, row, *compile_, 0, kLongestMs);
    sample.compile_ns = nanos(compile, 1e6);
    if (sample.compile_ns > sample.done_ns - sample.start_ns) {
      throw UserError(csv_.at(row, *compile_, "the compile takes longer than the service around it",
                              "Count compile work as part of the service"));
    }
    if (sample.compile_ns == 0) return;
    sample.flags |= kSampleCompiled;
    CompileRecord record;
    record.trigger = one.trial.compiles.empty() ? "first" : "recompile";
    record.at_ns = sample.start_ns;
    record.duration_ns = sample.compile_ns;
    record.request = sample.id;
    record.shape = shape;
    record.origin = "imported";
    one.trial.compiles.push_back(record);
  }

  const CsvFile& csv_;
  std::size_t arm_, arrival_, latency_, shape_;
  std::optional<std::size_t> phase_, process_, service_, compile_;
  std::vector<std::string> arms_;
  std::map<std::tuple<std::size_t, std::string, int>, ImportedTrial> trials_;
  std::vector<Diagnostic> faults_;
};

std::vector<AccuracyRecord> read_accuracy(const std::filesystem::path& file) {
  std::vector<AccuracyRecord> records;
  if (file.empty()) return records;
  const CsvFile csv(file);
  for (std::size_t row = 0; row < csv.row_count(); ++row) {
    AccuracyRecord record{.arm = std::string(csv.field(row, csv.column("arm"))),
                          .shape = std::string(csv.field(row, csv.column("shape")))};
    record.rmse_eager = read_number(csv, row, csv.column("rmse_eager"), 0, 1e300);
    record.rmse_arm = read_number(csv, row, csv.column("rmse_arm"), 0, 1e300);
    record.limit = read_number(csv, row, csv.column("limit"), 0, 1e300);
    record.ok = record.rmse_arm <= record.limit;
    record.eager_deterministic = true;
    records.push_back(record);
  }
  return records;
}

/// The scenario's shape classes where they name every shape served, else how often each came.
std::vector<ShapeClass> classes_of(const Results& results, Import& import) {
  std::map<std::string, double> counts;
  double all = 0;
  for (auto& [key, one] : import.trials()) {
    for (const RawSample& sample : one.samples) {
      ++counts[one.trial.shapes[static_cast<std::size_t>(sample.shape)]];
      ++all;
    }
  }
  std::size_t found = 0;
  for (const ShapeClass& shape : results.shape_classes) found += counts.contains(shape.shape);
  if (found == counts.size()) return results.shape_classes;
  std::vector<ShapeClass> classes;
  for (const auto& [shape, count] : counts) classes.push_back({shape, count / all});
  std::stable_sort(classes.begin(), classes.end(), [](const ShapeClass& a, const ShapeClass& b) {
    return a.probability > b.probability;
  });
  return classes;
}

}  // namespace

Results import_run(const Scenario& scenario, const std::filesystem::path& csv,
                   const std::filesystem::path& accuracy, const std::filesystem::path& directory) {
  const CsvFile file(csv);
  Import import(file);
  import.read_rows();
  Results results = begin_results(scenario);
  results.created_at = utc_now();
  results.arms = import.arms();
  results.accuracy = read_accuracy(accuracy);
  results.shape_classes = classes_of(results, import);
  // Nothing here was measured by this program, nor on this machine.
  results.environment = {{"imported", csv.filename().string()},
                         {"imported_hash", hash_bytes(file.bytes()).to_hex()}};
  make_directories(directory / "raw");
  for (auto& [key, one] : import.trials()) {
    Trial& trial = one.trial;
    trial.order = static_cast<int>(results.trials.size());
    trial.ok = true;
    trial.counters["requests"] = static_cast<std::int64_t>(one.samples.size());
    if (trial.phase == "cold" || trial.phase == "warm_disk") {
      trial.first_result_ns = one.samples.front().done_ns;
      trial.compiler_ns = one.samples.front().compile_ns;
    }
    const std::string name = 'r' + std::to_string(trial.process) + '-' + safe_slug(trial.arm) +
                             '-' + trial.phase + ".bin";
    trial.raw_checksum = write_raw_samples(one.samples, directory / "raw" / name);
    trial.raw_file = "raw/" + name;
    results.trials.push_back(std::move(trial));
  }
  write_results(results, directory / "results.json");
  return results;
}

}  // namespace breakeven
