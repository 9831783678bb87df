#include <algorithm>
#include <ostream>
#include <set>

#include "compiler/support/files.h"
#include "compiler/support/text.h"
#include "harness/cli/commands.h"
#include "harness/cli/progress.h"
#include "harness/cli/signals.h"
#include "harness/executors/executor.h"
#include "harness/measure/import_run.h"
#include "harness/measure/run.h"
#include "reports/render/render.h"

namespace breakeven {
namespace {

/// Prints the decision of a directory as the terminal wants it.
ExitCode print_decision(const std::filesystem::path& directory, const Decision& decision,
                        Terminal& terminal) {
  if (terminal.json) {
    terminal.out << read_file(directory / "report.json");
  } else {
    const Results results = read_results(directory / "results.json");
    terminal.out << render_terminal(results, decision, terminal.colour);
    terminal.out << "report  " << (directory / "report.html").string() << '\n';
  }
  return decision.verdict == Verdict::kBlocked ? ExitCode::kBlocked : ExitCode::kOk;
}

RunOptions options_of(const RunArguments& arguments, const std::filesystem::path& directory) {
  RunOptions options;
  options.directory = directory;
  options.quick = arguments.quick;
  options.resume = arguments.resume;
  options.fresh = arguments.fresh;
  options.arms = arguments.arms;
  options.processes = arguments.processes;
  options.seed = arguments.seed;
  options.trial_command = {executable_path().string(), "__trial"};
  options.command = arguments.command;
  options.version = program_version();
  options.environment = model_environment();
  return options;
}

/// One directory a scenario: the one given, or one below it when there are several.
std::filesystem::path directory_of(const RunArguments& arguments, const Scenario& scenario) {
  const std::filesystem::path directory = arguments.directory;
  return arguments.scenarios.size() == 1 ? directory : directory / safe_slug(scenario.name);
}

ExitCode run_one(const Scenario& scenario, RunOptions options, Terminal& terminal,
                 const std::atomic<bool>& interrupted) {
  ProgressLine line(terminal);
  options.interrupted = &interrupted;
  options.progress = [&](const RunProgress& progress) { line.show(progress); };
  if (!terminal.quiet) {
    terminal.err << printable(scenario.name) << ": " << scenario.arms.size() << " arms, "
                 << scenario.measure.processes << " processes each, about "
                 << format_duration_ns(planned_seconds(scenario) * 1e9) << " in all" << std::endl;
  }
  const Results results = run_scenario(scenario, options);
  line.clear();
  if (results.interrupted) {
    terminal.err << "breakeven: interrupted; what was measured is kept. Go on with --resume\n";
    return ExitCode::kInterrupted;
  }
  const Decision decision = make_report(options.directory);
  const ExitCode code = print_decision(options.directory, decision, terminal);
  const ArmSummary& baseline = decision.arms.front();
  if (code != ExitCode::kOk || baseline.usable) return code;
  terminal.err << "breakeven: the baseline " << printable(baseline.arm)
               << " did not run, so nothing could be compared: "
               << printable(baseline.unusable_reason, 400) << '\n';
  return ExitCode::kEnvironment;
}

}  // namespace

ExitCode run_command(const RunArguments& arguments, Terminal& terminal) {
  // All scenarios are checked before any is measured.
  std::vector<std::pair<Scenario, RunOptions>> runs;
  std::set<std::filesystem::path> directories;
  for (const std::string& file : arguments.scenarios) {
    Scenario scenario = load_scenario(file);
    RunOptions options = options_of(arguments, directory_of(arguments, scenario));
    if (!directories.insert(options.directory).second) {
      throw UserError({.file = file,
                       .message = "two of the scenarios have the same name",
                       .value = '"' + scenario.name + '"',
                       .fix = "Rename one, since the name picks the output directory"});
    }
    Scenario effective = effective_scenario(std::move(scenario), options);
    runs.emplace_back(std::move(effective), std::move(options));
  }
  const InterruptScope interrupt;
  ExitCode worst = ExitCode::kOk;
  if (terminal.json && runs.size() > 1) terminal.out << "[\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (terminal.json && i > 0) terminal.out << ",\n";
    const ExitCode code = run_one(runs[i].first, runs[i].second, terminal, interrupt.flag());
    if (code == ExitCode::kInterrupted) return code;
    worst = std::max(worst, code);
  }
  if (terminal.json && runs.size() > 1) terminal.out << "]\n";
  return worst;
}

ExitCode import_command(const ImportArguments& arguments, Terminal& terminal) {
  const std::filesystem::path directory = arguments.directory;
  if (std::filesystem::exists(directory / "results.json")) {
    throw UserError({.file = (directory / "results.json").string(),
                     .message = "the directory holds the results of an earlier run",
                     .fix = "Choose another directory"});
  }
  const Scenario scenario = load_scenario(arguments.scenario);
  Results results = import_run(scenario, arguments.csv, arguments.accuracy, directory);
  results.command = arguments.command;
  results.version = program_version();
  write_results(results, directory / "results.json");
  return print_decision(directory, make_report(directory), terminal);
}

ExitCode report_command(const std::string& directory, Terminal& terminal) {
  if (!std::filesystem::exists(std::filesystem::path(directory) / "results.json")) {
    throw UserError({.file = directory,
                     .message = "the directory holds no results.json",
                     .fix = "Give the directory that `breakeven run -o` wrote"});
  }
  const Decision decision = make_report(directory);
  return print_decision(directory, decision, terminal);
}

}  // namespace breakeven
