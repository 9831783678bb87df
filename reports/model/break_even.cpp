#include "reports/model/break_even.h"

#include <algorithm>
#include <cmath>

#include "compiler/support/check.h"

namespace breakeven {
namespace {

constexpr double kMostRequests = 1e15;

/// 1 - (1 - p)^n without cancellation for small p.
double share_met(double p, double n) {
  if (p >= 1) return n > 0 ? 1 : 0;
  return -std::expm1(n * std::log1p(-p));
}

/// Slope of S at n: saving less the stalls still to come there. Grows with n, since the stalls thin
/// out, so S is convex.
double slope_at(const BreakEvenInputs& inputs, double n) {
  double slope = inputs.saving_per_request_s;
  for (std::size_t s = 0; s < inputs.probability.size(); ++s) {
    const double p = inputs.probability[s];
    if (p <= 0 || p >= 1) continue;
    slope += inputs.compile_s[s] * std::log1p(-p) * std::exp(n * std::log1p(-p));
  }
  return slope;
}

/// Smallest real n in [lo, hi] at which `holds` turns true, by bisection; it holds at hi.
template <typename Holds>
double first_where(double lo, double hi, const Holds& holds) {
  for (int i = 0; i < 200 && hi - lo > 1e-7 * std::max(1.0, lo); ++i) {
    const double middle = lo + (hi - lo) / 2;
    (holds(middle) ? hi : lo) = middle;
  }
  return hi;
}

/// Break-even over N >= 1 when every p_s is below 1.
std::optional<double> break_even_from_one(const BreakEvenInputs& inputs) {
  // K_s >= 0 makes S convex on n > 0: it falls to its lowest point, then rises for good. So the
  // last crossing lies right of the lowest point, and "never" is a matter of the final slope alone.
  double all_stalls = 0;
  for (const double k : inputs.compile_s) all_stalls += k;
  const double gain = inputs.saving_per_request_s;
  if (gain < 0) return std::nullopt;
  if (gain == 0) {  // S tends to -C0 - all stalls from above.
    if (inputs.start_penalty_s + all_stalls > 0) return std::nullopt;
    return 1;
  }
  const auto pays = [&](double n) { return saving_after(inputs, n) >= 0; };
  double hi = std::max(1.0, (std::max(0.0, inputs.start_penalty_s) + all_stalls) / gain);
  if (hi > kMostRequests) return std::nullopt;
  double lowest = 0;
  if (slope_at(inputs, 0) < 0) {
    lowest = slope_at(inputs, hi) <= 0
                 ? hi
                 : first_where(0, hi, [&](double n) { return slope_at(inputs, n) >= 0; });
  }
  if (pays(lowest)) {
    return 1;  // Left of the lowest point S only falls towards it, so all of it pays.
  }
  while (!pays(hi) && hi < kMostRequests) hi *= 2;
  if (!pays(hi)) return std::nullopt;
  double whole = std::max(1.0, std::ceil(first_where(lowest, hi, pays)));
  while (whole >= 1 && whole - 1 > lowest && pays(whole - 1)) whole -= 1;
  while (!pays(whole)) whole += 1;
  return whole;
}

}  // namespace

double saving_after(const BreakEvenInputs& inputs, double requests) {
  BE_CHECK(inputs.probability.size() == inputs.compile_s.size());
  double saving = requests * inputs.saving_per_request_s - inputs.start_penalty_s;
  for (std::size_t s = 0; s < inputs.probability.size(); ++s) {
    saving -= inputs.compile_s[s] * share_met(inputs.probability[s], requests);
  }
  return saving;
}

std::optional<double> break_even_requests(const BreakEvenInputs& inputs) {
  // A certain shape is met by the first request: its stall is part of the start from N = 1 on.
  BreakEvenInputs later{inputs.saving_per_request_s, inputs.start_penalty_s, {}, {}};
  for (std::size_t s = 0; s < inputs.probability.size(); ++s) {
    BE_CHECK(inputs.compile_s[s] >= 0, "a stall cannot be negative");
    if (inputs.probability[s] >= 1) {
      later.start_penalty_s += inputs.compile_s[s];
    } else {
      later.probability.push_back(inputs.probability[s]);
      later.compile_s.push_back(inputs.compile_s[s]);
    }
  }
  const std::optional<double> found = break_even_from_one(later);
  if (found && *found <= 1 && inputs.start_penalty_s <= 0) return 0;
  return found;
}

double expected_distinct_shapes(std::span<const double> probability, double requests) {
  double sum = 0;
  for (const double p : probability) sum += share_met(p, requests);
  return sum;
}

std::optional<double> requests_per_life(double rate_per_s, double restarts_per_day) {
  if (!(rate_per_s > 0) || !(restarts_per_day > 0)) return std::nullopt;
  return rate_per_s * 86400 / restarts_per_day;
}

}  // namespace breakeven
