#include "reports/decide/flips.h"

#include <cmath>
#include <optional>

namespace breakeven {
namespace {

constexpr int kSteps = 24;

std::string verdict_phrase(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEnable:
      return "enable";
    case Verdict::kEnableWithLimits:
      return "enable with limits";
    case Verdict::kKeepEager:
      return "keep eager";
    case Verdict::kNotEnoughData:
      return "not enough data";
    case Verdict::kBlocked:
      return "blocked";
  }
  return "";
}

/// Nearest change from `from` towards `to`; the value returned has the new verdict.
std::optional<double> nearest_change(const FlipSearch& search, Verdict now, double to) {
  const double ratio = std::pow(to / search.current, 1.0 / kSteps);
  double same = search.current;
  for (int step = 1; step <= kSteps; ++step) {
    const double next = step == kSteps ? to : search.current * std::pow(ratio, step);
    if (search.verdict_at(next) == now) {
      same = next;
      continue;
    }
    double changed = next;
    while (std::fabs(std::log(changed / same)) > 1e-3) {
      const double middle = std::sqrt(changed * same);
      (search.verdict_at(middle) == now ? same : changed) = middle;
    }
    return changed;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Flip> find_flips(const FlipSearch& search) {
  const Verdict now = search.verdict_at(search.current);
  Flip base;
  base.input = search.input;
  base.current = search.current;
  base.searched_lo = search.lo;
  base.searched_hi = search.hi;
  base.becomes = now;
  std::vector<Flip> flips;
  for (const double end : {search.lo, search.hi}) {
    const std::optional<double> at = nearest_change(search, now, end);
    if (!at) continue;
    Flip flip = base;
    flip.at = at;
    flip.becomes = search.verdict_at(*at);
    const bool below = *at < search.current;
    flip.sentence = "At " + search.phrase(*at) + (below ? " or less" : " or more") + " (now " +
                    search.phrase(search.current) + ") the verdict becomes \"" +
                    verdict_phrase(flip.becomes) + "\".";
    flips.push_back(flip);
  }
  if (!flips.empty()) return flips;
  base.sentence = "Nothing from " + search.phrase(search.lo) + " to " + search.phrase(search.hi) +
                  " changes the verdict.";
  return {base};
}

}  // namespace breakeven
