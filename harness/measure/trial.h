#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/executors/executor.h"
#include "reports/schema/results.h"

namespace breakeven {

/// What one child process does.
enum class TrialKind : std::uint8_t {
  kPriming,   ///< Starts once and is discarded: page cache warm for what follows.
  kAccuracy,  ///< Compares results with eager and fp64; primes as well.
  kCold,      ///< Empty kernel cache, first result, then traffic at once.
  kWarmDisk,  ///< The same on the cache that the cold trial left.
  kWarmed,    ///< Warm-up, closed loop ("steady"), then traffic ("traffic"): two Trial records.
};
std::string_view name_of(
    TrialKind kind);  ///< "priming", "accuracy", "cold", "warm_disk", "warmed".

/// Everything a child process is told. Pure data: written by the run, read by `breakeven __trial`.
struct TrialSpec {
  std::filesystem::path scenario_file;
  std::string scenario_hash;  ///< Scenario::file_hash of the run; empty: any.
  std::string arm;
  TrialKind kind = TrialKind::kCold;
  int process = 0;
  std::uint64_t steady_seed = 0;   ///< The same for all arms of a repetition.
  std::uint64_t traffic_seed = 0;  ///< The same for all arms of a repetition.
  double traffic_offset_s = 0;
  MeasureSpec measure;      ///< Effective: overrides and --quick applied.
  int accuracy_shapes = 0;  ///< Most shapes of kAccuracy; 0: all.
  std::filesystem::path cache_dir;
  std::filesystem::path raw_directory;  ///< Where raw files go; results name them "raw/FILE".
};

std::string to_text(const TrialSpec& spec);
/// Throws UserError for text that to_text did not write.
TrialSpec parse_trial_spec(std::string_view text, const std::string& name);

/// When the process came to be, on CLOCK_MONOTONIC.
struct ProcessStamps {
  Nanos spawned_at = 0;  ///< By the parent, just before the spawn.
  Nanos entered_at = 0;  ///< First line of main.
};

using MakeAccuracyReference =
    std::function<std::unique_ptr<AccuracyReference>(const ExecutorContext&)>;

/// Runs the trial in this process; raw files are written here. The result holds `trials`,
/// `accuracy` and the arm's own facts in `environment`. Throws UserError when the arm cannot serve
/// the scenario at all.
Results run_trial(const TrialSpec& spec, const ArmTable& arms,
                  const MakeAccuracyReference& make_reference, const ProcessStamps& stamps);

/// A name safe as a file name on any system, different for different texts: lower-case letters,
/// digits, '-' and '_', at most 60 long; a text that is no such name already gets a hash.
std::string safe_slug(std::string_view text);

}  // namespace breakeven
