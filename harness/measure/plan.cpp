#include "harness/measure/plan.h"

#include <algorithm>

#include "harness/scenario/arms.h"

namespace breakeven {

std::vector<std::string> phases_of(TrialKind kind) {
  if (kind == TrialKind::kWarmed) return {"steady", "traffic"};
  return {std::string(name_of(kind))};
}

bool is_compared(const std::string& arm) {
  return arm.starts_with("fused:") || arm == "reference" || parse_peer_arm(arm);
}

std::vector<PlannedTrial> plan_trials(const std::vector<std::string>& arms, int processes) {
  std::vector<PlannedTrial> plan;
  for (const std::string& arm : arms) {
    plan.push_back({arm, is_compared(arm) ? TrialKind::kAccuracy : TrialKind::kPriming, 0});
  }
  for (int process = 0; process < processes; ++process) {
    std::vector<std::string> order = arms;
    std::rotate(order.begin(), order.begin() + process % static_cast<int>(order.size()),
                order.end());
    if (process % 2 == 1) std::reverse(order.begin(), order.end());
    for (const TrialKind kind : {TrialKind::kCold, TrialKind::kWarmDisk, TrialKind::kWarmed}) {
      for (const std::string& arm : order) plan.push_back({arm, kind, process});
    }
  }
  return plan;
}

void TimeEstimate::add(const PlannedTrial& trial, double seconds) {
  auto& [sum, count] = timed_[{trial.kind, trial.arm}];
  sum += seconds;
  ++count;
}

double TimeEstimate::seconds_of(const PlannedTrial& trial) const {
  // Process start, model load and first result, before any is timed.
  const bool has_model = trial.arm != "null" && trial.arm != "scripted";
  const double start = has_model ? 2 : 0.1;
  double sum = 0;
  int count = 0;
  for (const auto& [key, timed] : timed_) {
    if (key.first != trial.kind) continue;
    if (key.second == trial.arm) return timed.first / timed.second;
    sum += timed.first;
    count += timed.second;
  }
  if (count > 0) return sum / count;  // Another arm of this kind.
  switch (trial.kind) {
    case TrialKind::kPriming:
      return start;
    case TrialKind::kAccuracy:
      return start + measure_.accuracy_seconds / 2;
    case TrialKind::kCold:
    case TrialKind::kWarmDisk:
      return start + measure_.start_seconds;
    case TrialKind::kWarmed:
      return start + (has_model ? 3 : 1) + measure_.traffic_seconds;
  }
  return start;
}

}  // namespace breakeven
