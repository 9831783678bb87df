#include <cstdio>
#include <ostream>

#include "compiler/support/files.h"
#include "compiler/support/text.h"
#include "harness/cli/commands.h"
#include "harness/cli/signals.h"
#include "harness/executors/executor.h"
#include "harness/measure/environment.h"
#include "harness/selfbench/probe.h"
#include "harness/selfbench/selfbench.h"

namespace breakeven {
namespace {

ArmTable all_arms() {
  ArmTable arms = base_arms();
  for (ArmKind& arm : model_arms()) arms.push_back(std::move(arm));
  return arms;
}

std::string value_text(const MeasuredRow& measured) {
  if (!measured.value.has_value()) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.3g %s", *measured.value, measured.row.unit.c_str());
  return text;
}

/// One line for people: what is judged, the limit, and why it does not hold.
std::string line_of(const MeasuredRow& measured) {
  const FigureRow& row = measured.row;
  std::string line = measured.holds ? "holds   " : measured.value ? "SHORT   " : "MISSING ";
  line += row.figure + ": " + value_text(measured) + ", wanted " + (row.at_most ? "<= " : ">= ") +
          format_double(row.target) + ' ' + row.unit;
  if (measured.ours.has_value() && row.unit != "compiles") {
    line += " (ours " + format_duration_ns(*measured.ours);
    if (measured.theirs.has_value()) {
      line += ", " + (measured.peer.empty() ? "limit" : measured.peer) + ' ' +
              format_duration_ns(*measured.theirs);
    }
    line += ')';
  }
  if (!measured.reason.empty()) line += "; " + printable(measured.reason, 300);
  return line;
}

}  // namespace

ExitCode selfbench_command(const SelfbenchArguments& arguments, Terminal& terminal) {
  const std::filesystem::path path = arguments.table.empty()
                                         ? figure_table_path(arguments.group)
                                         : std::filesystem::path(arguments.table);
  const FigureTable table = load_figure_table(path);
  const InterruptScope interrupt;
  const std::map<std::string, std::string> machine = machine_environment();
  SelfbenchOptions options;
  options.filter = arguments.filter;
  options.out_file = arguments.out_file;
  options.program = {executable_path().string()};
  options.arms = all_arms();
  options.device = machine.at("cpu") + ", " + machine.at("cores") + " cores";
  options.versions = model_environment();
  options.versions["breakeven"] = program_version();
  options.versions["binary"] = binary_hash();
  options.interrupted = &interrupt.flag();
  options.progress = [&](const MeasuredRow& row, std::size_t done, std::size_t total) {
    if (!terminal.json) {
      terminal.out << line_of(row) << std::endl;
    } else if (!terminal.quiet) {
      terminal.err << done << " of " << total << "  " << line_of(row) << std::endl;
    }
  };
  const SelfbenchResult result = run_selfbench(table, options);
  if (result.interrupted) {
    terminal.err << "breakeven: interrupted"
                 << (arguments.out_file.empty() ? "" : "; the same command goes on") << '\n';
    return ExitCode::kInterrupted;
  }
  if (terminal.json) terminal.out << to_json(result);
  return result.holds() ? ExitCode::kOk : ExitCode::kJudgedBad;
}

ExitCode selfbench_probe_command(const SelfbenchProbe& probe) {
  const FigureTable table = load_figure_table(probe.table);
  const ProbeSamples samples =
      run_probe(table, table.row(probe.figure), probe.peer, probe.folder, all_arms());
  write_file_atomic(probe.out_file, to_text(samples));
  return ExitCode::kOk;
}

}  // namespace breakeven
