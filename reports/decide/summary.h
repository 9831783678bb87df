#pragma once

#include <optional>
#include <string>

#include "reports/decide/decision.h"
#include "reports/decide/evidence.h"
#include "reports/decide/judge.h"

namespace breakeven {

/// Everything that the trials say about one arm. `baseline` is the baseline's evidence (the same
/// object for the baseline itself).
ArmSummary summarise_arm(const Results& results, const ArmEvidence& baseline,
                         const ArmEvidence& arm, const std::optional<double>& life);

/// What the rules read of it.
ArmFacts facts_of(const Results& results, const ArmEvidence& baseline, const ArmEvidence& arm,
                  const ArmSummary& summary, const Policy& policy);

/// p99 in ms of the arm's recorded traffic replayed with arrivals `rate_factor` times as dense
/// (FIFO, the recorded service times): what another rate would do. Empty without traffic samples.
std::optional<double> replayed_p99_ms(const ArmEvidence& arm, double rate_factor);

}  // namespace breakeven
