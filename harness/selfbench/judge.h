#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/selfbench/table.h"

namespace breakeven {

/// Times of one side in ns (counts for kNewCompiles), process by process.
using SideSamples = std::vector<std::vector<double>>;

/// Ours against one peer, or against a limit of the machine; without `theirs` when nothing is
/// compared. Process i of both sides ran at the same time or in turn.
struct RawPair {
  std::string peer;
  SideSamples ours, theirs;
};

/// One row of the table as measured.
struct MeasuredRow {
  FigureRow row;
  std::vector<RawPair> raw;
  std::string reason;                  ///< Why something is missing: "lost its peer: ...".
  std::optional<double> ours, theirs;  ///< Medians of process medians; of the judged pair.
  std::optional<double> value;
  std::string peer;          ///< Of the judged pair.
  std::int64_t samples = 0;  ///< Of ours in the judged pair.
  bool holds = false;
};

/// Fills everything but row, raw and reason from these. Of several peers the one that we look worst
/// against is judged. A row with a reason, or without samples, does not hold.
void judge(MeasuredRow& measured);

/// The same for a kGeomean row, from ours over theirs of the rows that its expression names; none
/// of them may be missing.
void judge_geomean(MeasuredRow& measured, const std::vector<MeasuredRow>& others);

double median(std::vector<double> values);
/// Nanoseconds of the row's unit; 1 where the value is no time.
double unit_ns(const std::string& unit);

}  // namespace breakeven
