#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/measure/trial.h"
#include "harness/scenario/scenario.h"

namespace breakeven {

/// One child process of a run.
struct PlannedTrial {
  std::string arm;
  TrialKind kind = TrialKind::kCold;
  int process = 0;
};

/// The phases of results that a kind of trial gives: "steady" and "traffic" for kWarmed.
std::vector<std::string> phases_of(TrialKind kind);

/// True for arms whose results are compared with eager.
bool is_compared(const std::string& arm);

/// All trials in order. First each arm once (accuracy for compared arms, else priming), then the
/// repetitions: phases outside, arms inside, the arms rotated by the repetition and reversed in odd
/// ones, so that no arm keeps a place.
std::vector<PlannedTrial> plan_trials(const std::vector<std::string>& arms, int processes);

/// Seconds that trials take: from those already timed of the same kind, else from the scenario.
class TimeEstimate {
 public:
  explicit TimeEstimate(const MeasureSpec& measure) : measure_(measure) {}
  void add(const PlannedTrial& trial, double seconds);
  double seconds_of(const PlannedTrial& trial) const;

 private:
  MeasureSpec measure_;
  std::map<std::pair<TrialKind, std::string>, std::pair<double, int>> timed_;  ///< Sum, count.
};

}  // namespace breakeven
