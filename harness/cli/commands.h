#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "compiler/support/clock.h"
#include "compiler/support/error.h"

namespace breakeven {

/// Where a command writes and how.
struct Terminal {
  std::ostream& out;  ///< Results.
  std::ostream& err;  ///< Messages and progress.
  bool json = false;
  bool quiet = false;
  bool colour = false;         ///< For `out`.
  bool live_progress = false;  ///< `err` is a terminal: one line that is written over.
};

struct RunArguments {
  std::vector<std::string> scenarios;
  std::string directory;
  bool quick = false, resume = false, fresh = false;
  std::vector<std::string> arms;
  std::optional<int> processes;
  std::optional<std::uint64_t> seed;
  std::string command;  ///< As typed, for the results.
};

struct ExplainArguments {
  std::string scenario;
  std::string stage;
  std::string arm;                 ///< Empty: the scenario's first fused:* arm.
  std::vector<std::string> sizes;  ///< "length=13"; dims not named take the likeliest shape's.
  std::string directory;           ///< Of a finished run, for `decide`.
};

struct SelfbenchArguments {
  std::string group = "cpu";
  std::string filter, out_file;
  std::string table;  ///< Instead of the group's committed table.
};

/// What `__selfbench` is told.
struct SelfbenchProbe {
  std::string table, figure, peer, folder, out_file;
};

struct ImportArguments {
  std::string scenario, csv, accuracy, directory;
  std::string command;  ///< As typed, for the results.
};

/// Each returns the exit code and throws UserError.
ExitCode run_command(const RunArguments& arguments, Terminal& terminal);
ExitCode import_command(const ImportArguments& arguments, Terminal& terminal);
ExitCode report_command(const std::string& directory, Terminal& terminal);
ExitCode validate_command(const std::vector<std::string>& scenarios, Terminal& terminal);
ExitCode new_command(const std::string& name, const std::string& model, const std::string& file,
                     bool schema, Terminal& terminal);
ExitCode explain_command(const ExplainArguments& arguments, Terminal& terminal);
ExitCode doctor_command(Terminal& terminal);
ExitCode selfbench_command(const SelfbenchArguments& arguments, Terminal& terminal);
/// The child process of a selfbench row.
ExitCode selfbench_probe_command(const SelfbenchProbe& probe);
/// The child process of a run: reads `spec`, writes the trial to `out_file`.
ExitCode trial_command(const std::string& spec, const std::string& out_file, Nanos entered_at);

/// Version of the program: "0.1.0".
std::string program_version();

/// Stages that `explain --to` takes.
std::vector<std::string> explain_command_stages();

}  // namespace breakeven
