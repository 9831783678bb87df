#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compiler/support/clock.h"

namespace breakeven {

struct SubprocessOptions {
  std::vector<std::string> argv;         ///< argv[0] is looked up on PATH.
  std::vector<std::string> environment;  ///< "KEY=VALUE" entries that override the inherited ones.
  std::filesystem::path working_directory;
  Nanos timeout = 0;  ///< 0: none. After it the process group is killed.
  const std::atomic<bool>* interrupted = nullptr;  ///< When it turns true the group is killed.
};

struct SubprocessResult {
  enum class Ending { kExited, kSignalled, kTimedOut, kInterrupted, kNotStarted };
  Ending ending = Ending::kNotStarted;
  int exit_code = -1;           ///< Of kExited.
  int signal = 0;               ///< Of kSignalled.
  std::string standard_output;  ///< Capped at 16 MiB, the tail is kept.
  std::string standard_error;
  Nanos started_at = 0;  ///< now_ns() just before the spawn.
  std::int64_t peak_rss_bytes = 0;

  /// "exited with 3", "killed by SIGSEGV", "timed out after 5.0 s", ...
  std::string describe() const;
};

/// Runs a child in its own process group, waits for it, and never leaves it or its children behind.
SubprocessResult run_subprocess(const SubprocessOptions& options);

}  // namespace breakeven
