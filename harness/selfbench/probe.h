#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/executors/executor.h"
#include "harness/selfbench/table.h"

namespace breakeven {

/// What one child process measured: times in ns, or counts of kNewCompiles.
struct ProbeSamples {
  std::vector<double> ours, theirs;
};

std::string to_text(const ProbeSamples& samples);
/// Throws UserError for text that to_text did not write.
ProbeSamples parse_probe_samples(std::string_view text, const std::string& name);

/// Writes a scenario of one shape for the row's model and arm.
void write_figure_scenario(const FigureTable& table, const FigureRow& row,
                           const std::filesystem::path& file);

/// Measures the row in this process, against `peer` (an arm; empty: against a limit of the machine,
/// or nothing). `folder` holds scenario.json where the row has a model, and takes the kernel cache.
/// Not for rows whose processes are trials (kCold, kWarm, kStart) or kGeomean. Throws UserError.
ProbeSamples run_probe(const FigureTable& table, const FigureRow& row, const std::string& peer,
                       const std::filesystem::path& folder, const ArmTable& arms);

}  // namespace breakeven
