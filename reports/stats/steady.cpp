#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "compiler/support/check.h"
#include "compiler/support/text.h"
#include "reports/stats/stats.h"

namespace breakeven {
namespace {

constexpr std::size_t kFewestSamples = 20;
constexpr double kClip = 3;       // Deviations beyond it count the same, so one spike cannot alarm.
constexpr double kSlack = 0.5;    // CUSUM allowance in standard deviations.
constexpr double kDecision = 12;  // CUSUM alarm: about one false change in 100 series of 400.
constexpr double kSpikeRatio = 1.5;
constexpr double kSpikeSigmas = 6;

/// A value with its place in the original series.
struct Point {
  std::int64_t index = 0;
  double value = 0;
};

std::vector<Point> comparable_points(std::span<const double> values,
                                     std::span<const std::int32_t> shapes) {
  std::vector<Point> points;
  points.reserve(values.size());
  if (shapes.empty()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      points.push_back({static_cast<std::int64_t>(i), values[i]});
    }
    return points;
  }
  constexpr std::size_t kFewestOfShape = 3;
  std::map<std::int32_t, std::vector<double>> late;
  for (std::size_t i = values.size() / 2; i < values.size(); ++i)
    late[shapes[i]].push_back(values[i]);
  std::map<std::int32_t, double> medians;
  for (auto& [shape, list] : late) {
    if (list.size() >= kFewestOfShape) medians[shape] = quantile(std::move(list), 0.5);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto median = medians.find(shapes[i]);
    if (median == medians.end() || median->second <= 0) continue;
    points.push_back({static_cast<std::int64_t>(i), values[i] / median->second});
  }
  return points;
}

/// Level and spread of the last stretch: median, and scaled median absolute deviation with a floor
/// of 1 % of the level, below which timer resolution and jitter decide.
struct Reference {
  double level = 0, spread = 0;
  double centre = 0, deviation = 1;  ///< Mean and standard deviation of the clipped scores.

  double score(double value) const { return std::clamp((value - level) / spread, -kClip, kClip); }
  double standardised(double value) const { return (score(value) - centre) / deviation; }
};

Reference reference_of(std::span<const Point> tail) {
  std::vector<double> values;
  for (const Point& point : tail) values.push_back(point.value);
  Reference reference;
  reference.level = quantile(values, 0.5);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::fabs(value - reference.level));
  reference.spread =
      std::max(1.4826 * quantile(deviations, 0.5), 0.01 * std::fabs(reference.level));
  if (reference.spread <= 0) reference.spread = 1e-12;
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += reference.score(value);
    squares += reference.score(value) * reference.score(value);
  }
  const auto count = static_cast<double>(values.size());
  reference.centre = sum / count;
  const double variance = squares / count - reference.centre * reference.centre;
  reference.deviation = std::max(1.0, std::sqrt(std::max(variance, 0.0)));
  return reference;
}

/// The likeliest place of a step within [alarm, from]: the first point after it. Noise before the
/// climb starts the sum early, so the alarm alone places a step a few samples late.
std::size_t step_before(std::span<const Point> points, const Reference& reference,
                        std::size_t alarm, std::size_t from, double sign) {
  const auto height = [&](std::size_t i) { return sign * (points[i].value - reference.level); };
  std::vector<double> heights;
  for (std::size_t i = alarm; i < std::min(alarm + 5, from); ++i) heights.push_back(height(i));
  const double step = std::max(quantile(std::move(heights), 0.5), reference.spread);
  double sum = 0, best_sum = 0;
  std::size_t best = from;
  for (std::size_t i = alarm; i < from; ++i) {
    sum += std::clamp(height(i) - step / 2, -step / 2, step / 2);
    if (sum <= best_sum) continue;
    best_sum = sum;
    best = i + 1;
  }
  return best;
}

/// First point (forwards) of the stretch before the end that shows no lasting change.
std::size_t backward_cusum(std::span<const Point> points, const Reference& reference) {
  double up = 0, down = 0;
  std::size_t up_from = points.size(), down_from = points.size();
  for (std::size_t i = points.size(); i-- > 0;) {
    const double z = reference.standardised(points[i].value);
    if (up <= 0) up_from = i + 1;
    if (down <= 0) down_from = i + 1;
    up = std::max(0.0, up + z - kSlack);
    down = std::max(0.0, down - z - kSlack);
    if (up > kDecision) return step_before(points, reference, i, up_from, 1);
    if (down > kDecision) return step_before(points, reference, i, down_from, -1);
  }
  // Up to three cold first samples never alarm, yet they are warm-up.
  std::size_t start = 0;
  while (start < 3 && points[start].value > kSpikeRatio * reference.level &&
         points[start].value > reference.level + kSpikeSigmas * reference.spread) {
    ++start;
  }
  return start;
}

}  // namespace

SteadyState find_steady_state(std::span<const double> values,
                              std::span<const std::int32_t> shapes) {
  BE_CHECK(shapes.empty() || shapes.size() == values.size());
  SteadyState result;
  const std::vector<Point> points = comparable_points(values, shapes);
  if (points.size() < kFewestSamples) {
    result.reason = "not enough data: " + std::to_string(points.size()) +
                    " comparable samples, of at least " + std::to_string(kFewestSamples);
    return result;
  }
  const std::size_t tail = std::max<std::size_t>(10, points.size() / 5);
  Reference reference = reference_of(std::span(points).last(tail));
  std::size_t start = backward_cusum(points, reference);
  if (points.size() - start > 2 * tail) {  // A longer reference knows the level better.
    reference = reference_of(std::span(points).last((points.size() - start) / 2));
    start = backward_cusum(points, reference);
  }
  if (points.size() - start < tail) {
    result.reason = "the level still changed within the last " + std::to_string(tail) + " of " +
                    std::to_string(points.size()) + " samples";
    return result;
  }
  result.start = start == 0 ? 0 : points[start - 1].index + 1;
  std::vector<double> steady;
  for (std::int64_t i = *result.start; i < static_cast<std::int64_t>(values.size()); ++i) {
    steady.push_back(values[static_cast<std::size_t>(i)]);
  }
  result.level = quantile(std::move(steady), 0.5);
  for (std::size_t i = start; i < points.size(); ++i) {
    const double above = points[i].value - reference.level;
    const bool far = above > kSpikeSigmas * reference.spread;
    if (far && points[i].value > kSpikeRatio * reference.level) {
      result.spikes.push_back(points[i].index);
    }
  }
  return result;
}

namespace {

/// Bounds of the three thirds of n samples.
std::array<std::size_t, 4> thirds(std::size_t n) { return {0, n / 3, 2 * n / 3, n}; }

bool agree(const std::array<double, 3>& figures, double tolerance) {
  const auto [least, most] = std::minmax_element(figures.begin(), figures.end());
  return *most - *least <= tolerance * *most;
}

std::string list_of(const std::array<double, 3>& figures) {
  char text[96];
  std::snprintf(text, sizeof text, "%.4g, %.4g, %.4g", figures[0], figures[1], figures[2]);
  return text;
}

}  // namespace

Stability check_stability(std::span<const double> values, std::span<const double> done_s, double q,
                          double tolerance) {
  BE_CHECK(values.size() == done_s.size());
  Stability result;
  const auto least = static_cast<std::int64_t>(values.size() / 3);
  for (const double candidate : {q, 0.95, 0.90, 0.50}) {
    if (candidate <= q && least >= percentile_floor(candidate)) {
      result.percentile = candidate;
      break;
    }
  }
  if (result.percentile == 0) {
    result.reason =
        "not enough data to compare three windows: " + std::to_string(values.size()) + " samples";
    return result;
  }
  const auto bounds = thirds(values.size());
  for (std::size_t i = 0; i < 3; ++i) {
    result.level[i] = quantile({values.begin() + static_cast<std::ptrdiff_t>(bounds[i]),
                                values.begin() + static_cast<std::ptrdiff_t>(bounds[i + 1])},
                               result.percentile);
    const double from = i == 0 ? done_s.front() : done_s[bounds[i] - 1];
    const double span = done_s[bounds[i + 1] - 1] - from;
    const auto count = static_cast<double>(bounds[i + 1] - bounds[i] - (i == 0 ? 1 : 0));
    result.rate[i] = span > 0 ? count / span : 0;
  }
  char name[32];
  std::snprintf(name, sizeof name, "p%g", 100 * result.percentile);
  if (!agree(result.level, tolerance)) {
    result.stable = false;
    result.reason = std::string("the ") + name + " of its three thirds differs by more than " +
                    format_double(100 * tolerance) + " %: " + list_of(result.level);
  } else if (!agree(result.rate, tolerance)) {
    result.stable = false;
    result.reason = "the rate of its three thirds differs by more than " +
                    format_double(100 * tolerance) + " %: " + list_of(result.rate) + " per second";
  }
  return result;
}

std::optional<std::string> saturation_hint(std::span<const double> due_s,
                                           std::span<const double> done_s) {
  BE_CHECK(due_s.size() == done_s.size());
  constexpr std::size_t kFewest = 60;
  if (due_s.size() < kFewest) return std::nullopt;
  const auto bounds = thirds(due_s.size());
  std::array<double, 3> latency = {}, in_flight = {};
  for (std::size_t i = 0; i < 3; ++i) {
    double waited = 0;
    for (std::size_t j = bounds[i]; j < bounds[i + 1]; ++j) waited += done_s[j] - due_s[j];
    const double span = due_s[bounds[i + 1] - 1] - due_s[bounds[i]];
    latency[i] = waited / static_cast<double>(bounds[i + 1] - bounds[i]);
    in_flight[i] = span > 0 ? waited / span : 0;  // Little's law.
  }
  const bool rising = in_flight[1] > 1.3 * in_flight[0] && in_flight[2] > 1.3 * in_flight[1] &&
                      latency[1] > 1.3 * latency[0] && latency[2] > 1.3 * latency[1];
  if (!rising || in_flight[2] < 2) return std::nullopt;
  return "requests in flight rise over the run (" + list_of(in_flight) +
         " in its thirds) and latency with them: the server does not keep up";
}

}  // namespace breakeven
