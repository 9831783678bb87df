#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/schema/results.h"
#include "reports/stats/stats.h"

namespace breakeven {

/// One good trial with its raw samples.
struct Observed {
  const Trial* trial = nullptr;
  std::vector<RawSample> samples;  ///< In order of due time; failed requests included.
};

/// The good trials of one arm, by process (repetition).
struct ArmEvidence {
  std::string arm;
  std::map<int, Observed> cold, warm_disk, steady, traffic;
  std::vector<std::string> failures;  ///< "traffic, process 2: timed out after 300 s".
  const Trial* accuracy = nullptr;    ///< The trial that compared results, if it ran.
};

/// Reads every raw file named by a good trial. Throws UserError for a missing or bad one. The
/// result points into `results`.
std::vector<ArmEvidence> load_evidence(const Results& results,
                                       const std::filesystem::path& directory);

enum class Measure : std::uint8_t {
  kLatency,     ///< done - due.
  kNetService,  ///< done - start, less compile and cache-load work.
};

/// One group a process in ms, in order of time, without failed requests and, when `skip_first`,
/// without the first request of the process.
Groups groups_of(const std::map<int, Observed>& phase, Measure measure, bool skip_first = false);

bool is_failed(const RawSample& sample);
bool has_stall(const RawSample& sample);  ///< Compiled or loaded from the cache.

/// Interval of a statistic of two arms over the repetitions that both have: repetitions are drawn
/// once for both, then moving blocks inside each process (the same ones in both where they served
/// the same stream). `statistic` gets the pooled values of each.
Number paired_statistic(const Groups& baseline, const Groups& arm, const std::string& unit,
                        double (*statistic)(const std::vector<double>& baseline,
                                            const std::vector<double>& arm),
                        std::uint64_t seed, bool intervals);

/// Groups of both arms restricted to processes that both have, in the same order.
std::pair<Groups, Groups> paired_groups(const std::map<int, Observed>& baseline,
                                        const std::map<int, Observed>& arm, Measure measure);

}  // namespace breakeven
