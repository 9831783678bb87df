#include "harness/measure/resume.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/support/error.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

bool is_repetition_phase(const std::string& phase) {
  return phase == "cold" || phase == "warm_disk" || phase == "steady" || phase == "traffic";
}

}  // namespace

void check_same_run(const Results& earlier, const Results& now, const std::string& file) {
  if (earlier.quick != now.quick) {
    throw UserError(
        {.file = file,
         .message = earlier.quick ? "the run here is a quick one; a full run cannot go on with it"
                                  : "the run here is a full one; a quick run cannot go on with it",
         .fix = std::string(earlier.quick ? "Add --quick to go on with it"
                                          : "Leave out --quick to go on with it") +
                ", or choose another directory (-o)"});
  }
  std::vector<std::string> differing;
  if (earlier.scenario_hash != now.scenario_hash)
    differing.emplace_back("the scenario or its options");
  if (earlier.binary_hash != now.binary_hash) differing.emplace_back("the program");
  const std::map<std::string, std::string> facts = {
      {"model_hash", "the model"}, {"torch", "the LibTorch version"}, {"cpu", "the CPU"}};
  for (const auto& [key, name] : facts) {
    const auto before = earlier.environment.find(key);
    const auto after = now.environment.find(key);
    const std::string was = before == earlier.environment.end() ? "" : before->second;
    const std::string is = after == now.environment.end() ? "" : after->second;
    if (was != is) differing.push_back(name);
  }
  if (differing.empty()) return;
  throw UserError({.file = file,
                   .message = "the run here cannot be gone on with, since " +
                              join(differing, ", ") +
                              (differing.size() == 1 ? " has changed" : " have changed"),
                   .fix = "Pass --fresh to replace it, or choose another directory"});
}

void keep_complete_trials(Results& earlier,
                          const std::function<bool(const std::string& arm, int process)>& has_cache,
                          const std::function<bool(const Trial&)>& has_samples) {
  std::erase_if(earlier.trials, [&](const Trial& trial) {
    return !trial.ok || (!trial.raw_file.empty() && !has_samples(trial));
  });
  std::map<std::pair<std::string, int>, std::set<std::string>> done;
  for (const Trial& trial : earlier.trials) {
    if (is_repetition_phase(trial.phase)) done[{trial.arm, trial.process}].insert(trial.phase);
  }
  const auto keeps = [&](const Trial& trial) {
    if (!is_repetition_phase(trial.phase)) return true;
    const std::set<std::string>& phases = done[{trial.arm, trial.process}];
    const bool warmed_whole = phases.contains("steady") == phases.contains("traffic");
    if (phases.size() == 4) return true;
    if (!phases.contains("cold") || !has_cache(trial.arm, trial.process)) return false;
    // Steady and traffic come from one process: one without the other is done again.
    return warmed_whole || trial.phase == "cold" || trial.phase == "warm_disk";
  };
  std::erase_if(earlier.trials, [&](const Trial& trial) { return !keeps(trial); });
  std::set<std::string> compared;
  for (const Trial& trial : earlier.trials) {
    if (trial.phase == "accuracy") compared.insert(trial.arm);
  }
  std::erase_if(earlier.accuracy,
                [&](const AccuracyRecord& record) { return !compared.contains(record.arm); });
}

}  // namespace breakeven
