#include "reports/decide/instability.h"

#include <algorithm>
#include <array>
#include <vector>

#include "reports/decide/phrases.h"

namespace breakeven {

std::string instability_of(const ArmEvidence& arm) {
  constexpr double kTolerance = 0.10;
  std::array<double, 3> due = {}, done = {};
  std::array<std::vector<double>, 3> relative;
  std::map<std::string, std::vector<double>> by_shape;
  const auto net = [](const RawSample& s) {
    return static_cast<double>(s.done_ns - s.start_ns - s.compile_ns - s.cache_load_ns);
  };
  for (const auto& [process, observed] : arm.traffic) {
    for (const RawSample& s : observed.samples) {
      if (!is_failed(s))
        by_shape[observed.trial->shapes.at(static_cast<std::size_t>(s.shape))].push_back(net(s));
    }
  }
  std::map<std::string, double> medians;
  for (auto& [shape, values] : by_shape) {
    if (values.size() >= 3) medians[shape] = quantile(values, 0.5);
  }
  for (const auto& [process, observed] : arm.traffic) {
    if (observed.samples.empty()) continue;
    const double first = static_cast<double>(observed.samples.front().due_ns);
    const double span = static_cast<double>(observed.samples.back().due_ns) - first + 1;
    const auto third = [&](std::int64_t at) {
      return static_cast<std::size_t>(
          std::clamp((static_cast<double>(at) - first) / span * 3, 0.0, 2.999));
    };
    for (const RawSample& s : observed.samples) {
      due[third(s.due_ns)] += 1;
      // What is answered after the last arrival belongs to the last third's schedule.
      done[third(s.done_ns)] += 1;
      const auto median =
          medians.find(observed.trial->shapes.at(static_cast<std::size_t>(s.shape)));
      if (!is_failed(s) && median != medians.end() && median->second > 0) {
        relative[third(s.due_ns)].push_back(net(s) / median->second);
      }
    }
  }
  std::array<double, 3> level = {};
  for (std::size_t i = 0; i < 3; ++i) {
    if (due[i] > 0 && done[i] < (1 - kTolerance) * due[i]) {
      return "in a third of the run " + figure_with_unit(done[i], "requests") +
             " were answered of " + figure_with_unit(due[i], "") + " that were due";
    }
    if (relative[i].size() < static_cast<std::size_t>(percentile_floor(0.5))) return "";
    level[i] = quantile(std::move(relative[i]), 0.5);
  }
  const auto [least, most] = std::minmax_element(level.begin(), level.end());
  if (*most - *least <= kTolerance * *most) return "";
  return "service time drifts over the run: its thirds are at " + short_figure(100 * level[0]) +
         ", " + short_figure(100 * level[1]) + " and " + short_figure(100 * level[2]) +
         " % of each shape's median";
}

}  // namespace breakeven
