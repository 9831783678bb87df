#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/plan.h"
#include "harness/scenario/scenario.h"
#include "reports/schema/results.h"

namespace breakeven {

/// What is going on, for a progress line.
struct RunProgress {
  int index = 0;  ///< Of the trial, 0-based.
  int total = 0;
  PlannedTrial trial;
  double seconds_left = 0;
  bool skipped = false;  ///< Taken over from the results that --resume found.
  std::string failure;   ///< Of a trial that has just ended; empty while it starts.
};

struct RunOptions {
  std::filesystem::path directory;
  bool quick = false;             ///< Two processes and shorter phases.
  bool resume = false;            ///< Go on with the results in `directory`.
  bool fresh = false;             ///< Remove them first.
  std::vector<std::string> arms;  ///< Instead of the scenario's; empty: those.
  std::optional<int> processes;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> trial_command;  ///< Program and arguments before SPEC and OUT.
  std::string command;                     ///< What the user typed, for the results.
  std::string version;
  std::map<std::string, std::string> environment;  ///< Facts beside machine_environment().
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const RunProgress&)> progress;
};

/// `scenario` with the options' arms, processes, seed and quick applied to it, canonical_json and
/// hash included. Throws UserError for arms that the scenario cannot run.
Scenario effective_scenario(Scenario scenario, const RunOptions& options);

/// Seconds that the whole run should take, before anything is measured.
double planned_seconds(const Scenario& scenario);

/// Measures: each trial in a child process, results.json written after each. Returns the results,
/// `interrupted` set when the run was stopped. Throws UserError: the directory holds another run, a
/// file cannot be written, the model does not load.
Results run_scenario(const Scenario& scenario, const RunOptions& options);

}  // namespace breakeven
