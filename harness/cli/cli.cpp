#include "harness/cli/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <new>

#include "compiler/support/text.h"
#include "harness/cli/commands.h"

namespace breakeven {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 ok; 1 a gate, canary or selfbench failed; 2 usage or bad input; 3 not enough "
    "data for a "
    "gate;\n4 blocked by wrong results; 5 the machine's fault (full disk, missing library); 130 "
    "interrupted.";

/// The parsed command line.
struct Invocation {
  bool json = false, quiet = false, version = false;
  RunArguments run;
  ExplainArguments explain;
  ImportArguments import;
  std::vector<std::string> validate_files;
  std::string report_directory;
  std::string new_name, new_model, new_file;
  bool new_schema = false;
  std::string trial_spec, trial_out;
  SelfbenchArguments selfbench;
  SelfbenchProbe probe;
};

using Action = std::function<ExitCode(Terminal&)>;

class CommandLine {
 public:
  CommandLine(Nanos entered_at, const std::string& program,
              const std::vector<std::string>& arguments)
      : app_("breakeven: shall this model be served compiled or eager?", "breakeven"),
        entered_at_(entered_at) {
    in_.run.command = shell_quoted(program);
    for (const std::string& argument : arguments) in_.run.command += ' ' + shell_quoted(argument);
    in_.import.command = in_.run.command;
    app_.footer(kExitCodes);
    app_.require_subcommand(0, 1);
    app_.fallthrough();
    app_.add_flag("--json", in_.json, "Print results as JSON");
    app_.add_flag("--quiet,-q", in_.quiet, "No progress");
    app_.add_flag("--version", in_.version, "Print the version");
    add_run();
    add_reading();
    add_import();
    add_explain();
    add_rest();
    add_selfbench();
  }

  CLI::App& app() { return app_; }
  Invocation& invocation() { return in_; }

  /// The action of the subcommand that was given; empty when none was.
  Action action() const {
    for (const auto& [subcommand, action] : actions_) {
      if (subcommand->parsed()) return action;
    }
    return {};
  }

  /// Names of subcommands and of the options that hold inside `subcommand`.
  std::vector<std::string> known_words(const CLI::App* subcommand) const {
    std::vector<std::string> words;
    for (const auto& [one, action] : actions_) {
      if (!one->get_name().starts_with("__")) words.push_back(one->get_name());
    }
    for (const CLI::App* scope : {static_cast<const CLI::App*>(&app_), subcommand}) {
      if (scope == nullptr) continue;
      for (const CLI::Option* option : scope->get_options()) {
        for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
      }
    }
    return words;
  }

  const CLI::App* given_subcommand() const {
    for (const auto& [subcommand, action] : actions_) {
      if (subcommand->parsed()) return subcommand;
    }
    return nullptr;
  }

 private:
  static std::string shell_quoted(const std::string& word) {
    const bool plain =
        !word.empty() &&
        word.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+") ==
            std::string::npos;
    if (plain) return word;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + '\'';
  }

  CLI::App* add(const std::string& name, const std::string& doc, Action action) {
    CLI::App* subcommand = app_.add_subcommand(name, doc);
    actions_.emplace_back(subcommand, std::move(action));
    return subcommand;
  }

  void add_run() {
    CLI::App* run = add("run", "Measure scenarios and decide",
                        [this](Terminal& terminal) { return run_command(in_.run, terminal); });
    run->add_option("SCENARIO", in_.run.scenarios, "Scenario files (.json)")->required();
    run->add_option("-o,--out", in_.run.directory, "Directory for results and report")->required();
    run->add_flag("--quick", in_.run.quick,
                  "Two processes an arm: a first look, never a verdict to enable");
    CLI::Option* resume =
        run->add_flag("--resume", in_.run.resume, "Go on with an interrupted run");
    run->add_flag("--fresh", in_.run.fresh, "Replace an earlier run in the directory")
        ->excludes(resume);
    run->add_option("--arms", in_.run.arms, "Only these arms, comma separated")->delimiter(',');
    run->add_option("--processes", in_.run.processes, "Processes per arm and phase")
        ->check(CLI::Range(1, 1000));
    run->add_option("--seed", in_.run.seed, "Seed of shapes, arrivals and inputs")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{9007199254740991}));
  }

  void add_reading() {
    CLI::App* validate = add("validate", "Check scenario files", [this](Terminal& terminal) {
      return validate_command(in_.validate_files, terminal);
    });
    validate->add_option("SCENARIO", in_.validate_files, "Scenario files")->required();
    CLI::App* report =
        add("report", "Decide again from the results in a directory",
            [this](Terminal& terminal) { return report_command(in_.report_directory, terminal); });
    report->add_option("DIR", in_.report_directory, "Directory of a run")->required();
  }

  void add_import() {
    CLI::App* import =
        add("import-run", "Decide from the latencies of your own service",
            [this](Terminal& terminal) { return import_command(in_.import, terminal); });
    import->add_option("SCENARIO", in_.import.scenario, "Scenario with prices, SLO and policy")
        ->required();
    import
        ->add_option("--csv", in_.import.csv,
                     "A row a request: arm, arrival_s, latency_ms, shape; also phase, process, "
                     "service_ms, compile_ms")
        ->required();
    import->add_option("--accuracy", in_.import.accuracy,
                       "How results compared: arm, shape, rmse_eager, rmse_arm, limit");
    import->add_option("-o,--out", in_.import.directory, "Directory for results and report")
        ->required();
  }

  void add_explain() {
    CLI::App* explain =
        add("explain", "Print what a stage of the compiler, or the decision, sees",
            [this](Terminal& terminal) { return explain_command(in_.explain, terminal); });
    explain->add_option("SCENARIO", in_.explain.scenario, "Scenario file")->required();
    explain->add_option("--to", in_.explain.stage, "Stage: " + join(explain_command_stages(), ", "))
        ->required();
    explain->add_option("--arm", in_.explain.arm, "Arm: fused:static, fused:dynamic or fused:auto");
    explain->add_option("--size", in_.explain.sizes, "Size of a dim, such as length=13");
    explain->add_option("--dir", in_.explain.directory, "Directory of a run, for --to decide");
  }

  void add_rest() {
    CLI::App* fresh = add("new", "Write a commented scenario", [this](Terminal& terminal) {
      return new_command(in_.new_name, in_.new_model, in_.new_file, in_.new_schema, terminal);
    });
    fresh->add_option("NAME", in_.new_name, "Name of the scenario");
    fresh->add_option("--model", in_.new_model, "Take inputs and dims from this .pt2 or .ir file");
    fresh->add_option("-o,--out", in_.new_file, "File to write; else it is printed");
    fresh->add_flag("--schema", in_.new_schema, "Print the JSON Schema of scenario files instead");
    add("doctor", "Say what this machine and build have",
        [](Terminal& terminal) { return doctor_command(terminal); });
    CLI::App* trial = add("__trial", "", [this](Terminal&) {
      return trial_command(in_.trial_spec, in_.trial_out, entered_at_);
    });
    trial->group("");
    trial->add_option("SPEC", in_.trial_spec)->required();
    trial->add_option("OUT", in_.trial_out)->required();
  }

  void add_selfbench() {
    CLI::App* selfbench =
        add("selfbench", "Measure this compiler against its peers and the machine's limits",
            [this](Terminal& terminal) { return selfbench_command(in_.selfbench, terminal); });
    selfbench->add_option("--group", in_.selfbench.group, "Figures of scenarios/selfbench (cpu)");
    selfbench->add_option("--filter", in_.selfbench.filter, "Regular expression on figures");
    selfbench->add_option("-o,--out", in_.selfbench.out_file,
                          "File that takes each row when measured; a later call goes on from it");
    selfbench->add_option("--table", in_.selfbench.table, "Another table of figures");
    CLI::App* probe =
        add("__selfbench", "", [this](Terminal&) { return selfbench_probe_command(in_.probe); });
    probe->group("");
    probe->add_option("TABLE", in_.probe.table)->required();
    probe->add_option("FIGURE", in_.probe.figure)->required();
    probe->add_option("PEER", in_.probe.peer)->required();
    probe->add_option("FOLDER", in_.probe.folder)->required();
    probe->add_option("OUT", in_.probe.out_file)->required();
  }

  CLI::App app_;
  Nanos entered_at_;
  Invocation in_;
  std::vector<std::pair<CLI::App*, Action>> actions_;
};

int code(ExitCode exit_code) { return static_cast<int>(exit_code); }

void print_lines(std::ostream& err, const std::string& text) {
  for (const std::string& line : split(text, '\n')) err << "breakeven: " << line << '\n';
}

/// A usage error with the nearest known word.
int report_usage(const CommandLine& line, const CLI::App& app, const CLI::ParseError& error,
                 std::ostream& err) {
  const std::vector<std::string> known = line.known_words(line.given_subcommand());
  for (const std::string& word : app.remaining(true)) {
    const std::string bare = word.substr(0, word.find('='));
    std::string nearest = nearest_word(bare, known);
    // A single letter is near everything.
    if (bare.size() < 3) nearest.clear();
    print_lines(err, '"' + printable(word) + "\" is neither a command nor an option here" +
                         (nearest.empty() ? "" : ". Did you mean \"" + nearest + "\"?"));
    print_lines(err, "See `breakeven --help`");
    return code(ExitCode::kBadInput);
  }
  print_lines(err, printable(error.what(), 1000));
  const CLI::App* subcommand = line.given_subcommand();
  print_lines(err, "See `breakeven " + (subcommand == nullptr ? "" : subcommand->get_name() + ' ') +
                       "--help`");
  return code(ExitCode::kBadInput);
}

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused = no_colour != nullptr && *no_colour != '\0';
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return !refused && !dumb && ::isatty(STDOUT_FILENO) == 1;
}

int dispatch(CommandLine& line, std::ostream& out, std::ostream& err) {
  const Invocation& invocation = line.invocation();
  if (invocation.version) {
    out << "breakeven " << program_version() << '\n';
    return code(ExitCode::kOk);
  }
  const Action action = line.action();
  if (!action) {
    err << line.app().help();
    return code(ExitCode::kBadInput);
  }
  Terminal terminal{.out = out,
                    .err = err,
                    .json = invocation.json,
                    .quiet = invocation.quiet,
                    .colour = wants_colour(),
                    .live_progress = ::isatty(STDERR_FILENO) == 1};
  const ExitCode result = action(terminal);
  out.flush();
  if (!out) {
    print_lines(err, "cannot write the result to standard output. Is the disk full?");
    return code(ExitCode::kEnvironment);
  }
  return code(result);
}

}  // namespace

int run_cli(const std::string& program, const std::vector<std::string>& arguments, Nanos entered_at,
            std::ostream& out, std::ostream& err) {
  try {
    CommandLine line(entered_at, program, arguments);
    try {
      std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
      line.app().parse(reversed);
    } catch (const CLI::CallForHelp&) {
      const CLI::App* subcommand = line.given_subcommand();
      out << (subcommand == nullptr ? line.app().help() : subcommand->help("breakeven"));
      return code(ExitCode::kOk);
    } catch (const CLI::ParseError& error) {
      if (line.invocation().version) {
        out << "breakeven " << program_version() << '\n';
        return code(ExitCode::kOk);
      }
      return report_usage(line, line.app(), error, err);
    }
    return dispatch(line, out, err);
  } catch (const UserError& error) {
    print_lines(err, error.what());
    return code(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    print_lines(err, printable(error.path1().string(), 400) + ": " + error.code().message());
  } catch (const std::bad_alloc&) {
    print_lines(err, "out of memory");
  } catch (const std::exception& error) {
    print_lines(err, "unexpected fault: " + printable(error.what(), 1000));
  }
  return code(ExitCode::kEnvironment);
}

}  // namespace breakeven
