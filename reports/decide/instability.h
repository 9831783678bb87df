#pragma once

#include <string>

#include "reports/decide/evidence.h"

namespace breakeven {

/// Why the traffic trials of an arm are not one steady state, or empty. Compares the thirds of the
/// trials: completions against each trial's own schedule, and the median of service relative to its
/// shape, pooled over the processes; both may differ by 10 %.
std::string instability_of(const ArmEvidence& arm);

}  // namespace breakeven
