#include "harness/selfbench/selfbench.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/hash.h"
#include "compiler/support/subprocess.h"
#include "compiler/support/text.h"
#include "harness/measure/environment.h"
#include "harness/measure/trial.h"
#include "harness/selfbench/probe.h"
#include "harness/selfbench/record.h"

namespace breakeven {
namespace {

/// Why a child gave no samples; the row is then missing.
struct Missing {
  std::string reason;
};

/// What a child of ours said, without the warnings of libraries; else its last words.
std::string said_by(const std::string& standard_error) {
  constexpr std::string_view kOurs = "breakeven: ";
  std::string ours, last;
  for (const std::string& line : split(standard_error, '\n')) {
    if (!line.empty()) last = line;
    if (line.starts_with(kOurs)) ours += ' ' + line.substr(kOurs.size());
  }
  if (ours.empty() && !last.empty()) ours = ' ' + last;
  return ours.empty() ? ours : ":" + ours;
}

class Selfbench {
 public:
  Selfbench(const FigureTable& table, const SelfbenchOptions& options)
      : table_(table), options_(options) {
    std::string identity = options.device;
    for (const auto& [what, version] : options.versions) identity += '\n' + what + '=' + version;
    run_ = hash_bytes(identity).to_hex();
  }

  SelfbenchResult run() {
    SelfbenchResult result{table_.group, options_.device, options_.versions, {}, false};
    const std::vector<const FigureRow*> wanted = selected();
    resume();
    for (const FigureRow* row : wanted) {
      result.interrupted = is_interrupted();
      if (result.interrupted) break;
      result.rows.push_back(one_row(*row));
      if (options_.progress)
        options_.progress(result.rows.back(), result.rows.size(), wanted.size());
    }
    result.interrupted = is_interrupted();
    return result;
  }

 private:
  bool is_interrupted() const { return options_.interrupted != nullptr && *options_.interrupted; }

  std::vector<const FigureRow*> selected() const {
    std::vector<const FigureRow*> rows;
    try {
      const std::regex filter(options_.filter);
      for (const FigureRow& row : table_.rows) {
        if (std::regex_search(row.figure, filter)) rows.push_back(&row);
      }
    } catch (const std::regex_error& error) {
      throw UserError(
          Diagnostic{"", 0, 0, "--filter is no regular expression", options_.filter, error.what()});
    }
    if (!rows.empty()) return rows;
    throw UserError(Diagnostic{table_.path.string(), 0, 0, "no figure is named by --filter",
                               options_.filter, "Without it all are measured"});
  }

  void resume() {
    if (options_.out_file.empty()) return;
    std::string text;
    if (std::filesystem::exists(options_.out_file)) text = read_file(options_.out_file);
    if (!text.empty() && !is_record(text)) {
      throw UserError({.file = options_.out_file.string(),
                       .message = "the file holds something else than rows of selfbench",
                       .fix = "Choose another file, or move this one away"});
    }
    // Before hours of measuring, not after the first row.
    if (!std::ofstream(options_.out_file, std::ios::app)) {
      throw UserError({.file = options_.out_file.string(),
                       .message = "cannot write the file",
                       .fix = "Choose a file that you may write to"},
                      ExitCode::kEnvironment);
    }
    known_ = read_lines(text, table_, run_);
    cut_short_ = !text.empty() && text.back() != '\n';
  }

  MeasuredRow one_row(const FigureRow& row) {
    const auto known = std::find_if(known_.begin(), known_.end(), [&](const MeasuredRow& one) {
      return one.row.figure == row.figure;
    });
    if (known != known_.end()) return *known;
    MeasuredRow measured;
    measured.row = row;
    if (row.probe == Probe::kGeomean) {
      judge_geomean(measured, known_);  // From the others, each time.
      append(measured);
      return measured;
    }
    try {
      measure(measured);
    } catch (const Missing& missing) {
      measured.reason = missing.reason;
    }
    judge(measured);
    if (!is_interrupted()) append(measured);
    known_.push_back(measured);
    return measured;
  }

  void append(const MeasuredRow& measured) {
    if (options_.out_file.empty()) return;
    std::ofstream file(options_.out_file, std::ios::app | std::ios::binary);
    // A line that a kill cut short must not swallow this one.
    if (std::exchange(cut_short_, false)) file << '\n';
    file << to_line(measured, table_.group, run_) << std::endl;
    if (!file) {
      throw UserError({.file = options_.out_file.string(),
                       .message = "cannot write the row just measured",
                       .fix = "Free some space or choose another file"},
                      ExitCode::kEnvironment);
    }
  }

  void measure(MeasuredRow& measured) {
    const FigureRow& row = measured.row;
    if (!row.model.empty()) {
      const FigureModel& model = table_.models.at(row.model);
      if (!std::filesystem::is_regular_file(model.file)) {
        throw Missing{"the model file " + model.file +
                      " is missing; make it: scripts/export_model.py " +
                      join(model.export_args, " ")};
      }
    }
    std::vector<std::string> peers, lost;
    for (const std::string& peer : row.peers) {
      (find_arm(options_.arms, peer) != nullptr ? peers : lost).push_back(peer);
    }
    if (peers.empty()) peers.emplace_back();  // A limit of the machine, or ours alone.
    for (const std::string& peer : peers) {
      RawPair& pair = measured.raw.emplace_back();
      pair.peer = peer;
      for (int process = 0; process < row.processes; ++process) one_process(row, process, pair);
    }
    if (!lost.empty()) throw Missing{"lost its peer: this build has no arm " + join(lost, ", ")};
  }

  void one_process(const FigureRow& row, int process, RawPair& pair) {
    const TempDir folder("breakeven-selfbench");
    if (!row.model.empty()) {
      write_figure_scenario(table_, row, folder.path() / "scenario.json");
    }
    if (row.probe == Probe::kCold || row.probe == Probe::kWarm || row.probe == Probe::kStart) {
      const bool ours_first = process % 2 == 0;
      for (const bool is_ours : {ours_first, !ours_first}) {
        if (!is_ours && pair.peer.empty()) continue;
        const double ns = start(row, is_ours ? row.arm : pair.peer, process, folder.path());
        (is_ours ? pair.ours : pair.theirs).push_back({ns});
      }
      return;
    }
    const std::filesystem::path out = folder.path() / "samples.json";
    run_child({"__selfbench", table_.path.string(), row.figure, pair.peer, folder.path().string(),
               out.string()});
    ProbeSamples samples = parse_probe_samples(read_file(out), out.string());
    pair.ours.push_back(std::move(samples.ours));
    if (!samples.theirs.empty()) pair.theirs.push_back(std::move(samples.theirs));
  }

  /// Starts the arm in a process of its own and returns the time that the row is about.
  double start(const FigureRow& row, const std::string& arm, int process,
               const std::filesystem::path& folder) {
    TrialSpec spec;
    spec.scenario_file = folder / "scenario.json";
    spec.arm = arm;
    spec.kind = TrialKind::kPriming;
    spec.process = process;
    spec.measure = load_scenario(spec.scenario_file).measure;
    spec.measure.threads = table_.threads;
    spec.cache_dir = folder / ("cache-" + safe_slug(arm));
    spec.raw_directory = folder;
    make_directories(spec.cache_dir);
    write_file_atomic(folder / "trial.json", to_text(spec));
    const std::filesystem::path out = folder / "trial-results.json";
    const int starts = row.probe == Probe::kCold ? 1 : 2;
    for (int i = 0; i < starts; ++i) {
      run_child({"__trial", (folder / "trial.json").string(), out.string()});
    }
    const Trial trial = read_results(out).trials.at(0);
    if (row.probe == Probe::kStart) return static_cast<double>(trial.first_result_ns.value_or(0));
    double ns = static_cast<double>(trial.compiler_ns.value_or(0));
    for (const StageTime& stage : trial.stages) {
      if (stage.name == "first_run") ns += static_cast<double>(stage.ns);
    }
    return ns;
  }

  void run_child(const std::vector<std::string>& arguments) {
    constexpr Nanos kTimeout = Nanos{900} * 1'000'000'000;
    SubprocessOptions child;
    child.argv = options_.program;
    child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
    child.timeout = kTimeout;
    child.interrupted = options_.interrupted;
    child.environment = {"BREAKEVEN_SPAWNED_AT=" + std::to_string(now_ns())};
    const SubprocessResult ended = run_subprocess(child);
    if (ended.ending == SubprocessResult::Ending::kExited && ended.exit_code == 0) return;
    throw Missing{"a measuring process " + ended.describe() + said_by(ended.standard_error)};
  }

  const FigureTable& table_;
  const SelfbenchOptions& options_;
  std::string run_;
  std::vector<MeasuredRow> known_;
  bool cut_short_ = false;  ///< The file's last line has no end.
};

}  // namespace

bool SelfbenchResult::holds() const {
  return !rows.empty() &&
         std::all_of(rows.begin(), rows.end(), [](const MeasuredRow& row) { return row.holds; });
}

SelfbenchResult run_selfbench(const FigureTable& table, const SelfbenchOptions& options) {
  return Selfbench(table, options).run();
}

std::string to_json(const SelfbenchResult& result) {
  using Json = nlohmann::ordered_json;
  Json json = {{"device", result.device}, {"versions", result.versions}, {"rows", Json::array()}};
  for (const MeasuredRow& row : result.rows) {
    Json line = Json::parse(to_line(row, result.group, ""));
    line.erase("run");
    json["rows"].push_back(std::move(line));
  }
  return json.dump(1) + '\n';
}

}  // namespace breakeven
