#pragma once

#include <vector>

#include "reports/decide/decision.h"
#include "reports/decide/evidence.h"
#include "reports/model/break_even.h"

namespace breakeven {

/// The break-even formula's inputs, as estimated and as resampled (repetitions drawn once for every
/// input, so that they stay paired).
struct CostModel {
  BreakEvenInputs estimate;
  std::vector<BreakEvenInputs> resampled;  ///< Empty when no interval can be given.
  double stall_per_new_shape_s = 0;        ///< Mean over shapes met after the first.
  std::size_t processes = 0;
  std::int64_t samples = 0;
  int shapes_met = 0;   ///< After the first, over all processes.
  std::string missing;  ///< Why there is no model.
};

/// `kept`: restarts keep the kernel cache (warm_disk trials), else they lose it (cold trials). C0
/// is the later first result, the first shape's compile work inside it, so that shape's K is 0. A
/// shape that was met has its measured stall; one that was not met has the mean of those that were.
CostModel cost_model(const Results& results, const ArmEvidence& baseline, const ArmEvidence& arm,
                     bool kept, bool intervals);

/// The figures that a report shows of it; `life` empty: never restarted.
BreakEvenSummary summarise_costs(const CostModel& model, const Results& results,
                                 const std::optional<double>& life);

}  // namespace breakeven
