#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reports/decide/decision.h"

namespace breakeven {

/// One input to vary, and the verdict at any value of it.
struct FlipSearch {
  std::string input;                          ///< "restarts_per_day".
  std::function<std::string(double)> phrase;  ///< "2.3 restarts a day".
  double current = 0;                         ///< > 0.
  double lo = 0, hi = 0;                      ///< Searched range, lo < current < hi.
  std::function<Verdict(double)> verdict_at;
};

/// The nearest value below and above `current` at which the verdict changes: a geometric scan (24
/// steps each way), then bisection in log space to 0.1 %. A change that comes and goes between two
/// steps of the scan is not seen. One Flip each side that has one; one without `at` when none has.
std::vector<Flip> find_flips(const FlipSearch& search);

}  // namespace breakeven
