#pragma once

#include <span>
#include <string>

#include "reports/decide/decision.h"

namespace breakeven {

/// One figure of an arm: its key in report.json, its label for people, and where it lives. A new
/// metric is one row of arm_metrics().
struct ArmMetric {
  const char* key;
  const char* label;
  Number ArmSummary::* member;
};
std::span<const ArmMetric> arm_metrics();

/// The same for break-even, once with the cache lost and once with it kept.
struct BreakEvenMetric {
  const char* key;
  const char* label;
  Number BreakEvenSummary::* member;
};
std::span<const BreakEvenMetric> break_even_metrics();

/// What the scenario states: rate, restarts, target, price, engineering cost.
struct Given {
  std::string key, label;
  Number number;
  std::string source;
};
std::vector<Given> givens_of(const Results& results);

/// The arm whose figures lead the report, the one that the verdict turns on. An index into
/// decision.arms.
std::size_t leading_arm(const Decision& decision);

const char* label_of_split(const std::string& part);  ///< "Its own recompile", ...

}  // namespace breakeven
