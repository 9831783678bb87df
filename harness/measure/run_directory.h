#pragma once

#include <filesystem>
#include <string>

namespace breakeven {

/// The output directory of one run, held against other runs for the life of this object.
/// results.json, report.*, log.jsonl, raw/ are kept; work/ (kernel caches, trial specs) only as
/// long as a repetition needs it.
class RunDirectory {
 public:
  /// Creates the directory and locks it. Throws UserError (kEnvironment): another run holds it, or
  /// it cannot be written to.
  explicit RunDirectory(const std::filesystem::path& path);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path results() const { return path_ / "results.json"; }
  std::filesystem::path raw() const { return path_ / "raw"; }
  std::filesystem::path work() const { return path_ / "work"; }
  /// The kernel cache that an arm's cold trial of a repetition fills.
  std::filesystem::path cold_cache(const std::string& arm, int process) const;

  /// Removes what an earlier run left here, and nothing else.
  void remove_earlier_run() const;
  /// Appends one line to log.jsonl; a log that cannot be written is no reason to stop a run.
  void log(const std::string& json_line) const;

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace breakeven
