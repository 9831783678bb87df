#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/executors/executor.h"
#include "harness/selfbench/judge.h"
#include "harness/selfbench/table.h"

namespace breakeven {

struct SelfbenchOptions {
  std::string filter;                ///< Regular expression on figures; empty: all.
  std::filesystem::path out_file;    ///< JSON lines, one a row, appended as measured; empty: none.
  std::vector<std::string> program;  ///< argv in front of "__trial" and "__selfbench".
  ArmTable arms;                     ///< Of this build: a peer that is not there is lost.
  std::string device;
  std::map<std::string, std::string> versions;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<void(const MeasuredRow& row, std::size_t done, std::size_t total)> progress;
};

struct SelfbenchResult {
  std::string group, device;
  std::map<std::string, std::string> versions;
  std::vector<MeasuredRow> rows;  ///< Of the table, those that the filter names, in its order.
  bool interrupted = false;

  bool holds() const;  ///< Every row does, and there is one.
};

/// Measures the rows of `table`, each in child processes; rows that out_file holds from the same
/// build on the same machine are not measured again. Throws UserError for a bad filter or file.
SelfbenchResult run_selfbench(const FigureTable& table, const SelfbenchOptions& options);

/// {"device", "versions", "rows": [...]} as one object; `ours` and `peer` are in nanoseconds.
std::string to_json(const SelfbenchResult& result);

}  // namespace breakeven
