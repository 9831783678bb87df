#include "harness/selfbench/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

namespace breakeven {
namespace {

bool all_measured(const SideSamples& side) {
  return !side.empty() && std::none_of(side.begin(), side.end(),
                                       [](const auto& process) { return process.empty(); });
}

double median_of_medians(const SideSamples& side) {
  std::vector<double> medians;
  for (const std::vector<double>& process : side) medians.push_back(median(process));
  return median(medians);
}

/// Student's t, one-sided 95 %, for 1 to 9 degrees of freedom; further ones are near the normal.
double t95(std::size_t degrees) {
  constexpr std::array<double, 9> kTable = {6.314, 2.920, 2.353, 2.132, 2.015,
                                            1.943, 1.895, 1.860, 1.833};
  return degrees <= kTable.size() ? kTable[degrees - 1] : 1.812;
}

/// The ratio of the processes' medians, or its bound on the side that the row is judged by.
std::optional<double> ratio_of(const FigureRow& row, const RawPair& pair) {
  std::vector<double> ratios;
  for (std::size_t p = 0; p < std::min(pair.ours.size(), pair.theirs.size()); ++p) {
    const double ratio = median(pair.ours[p]) / median(pair.theirs[p]);
    ratios.push_back(row.value == FigureValue::kOursPerPeer ? ratio : 1 / ratio);
  }
  if (!row.by_bound) return median(ratios);
  if (ratios.size() < 2) return std::nullopt;
  double mean = 0;
  for (const double ratio : ratios) mean += std::log(ratio) / static_cast<double>(ratios.size());
  double squares = 0;
  for (const double ratio : ratios) squares += std::pow(std::log(ratio) - mean, 2);
  const auto n = static_cast<double>(ratios.size());
  const double margin = t95(ratios.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return std::exp(row.at_most ? mean + margin : mean - margin);
}

void judge_target(MeasuredRow& measured) {
  const FigureRow& row = measured.row;
  measured.holds = measured.reason.empty() && measured.value.has_value() &&
                   std::isfinite(*measured.value) &&
                   (row.at_most ? *measured.value <= row.target : *measured.value >= row.target);
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double unit_ns(const std::string& unit) {
  return unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : 1;
}

void judge(MeasuredRow& measured) {
  const FigureRow& row = measured.row;
  measured.value.reset();
  measured.ours.reset();
  for (const RawPair& pair : measured.raw) {
    if (!all_measured(pair.ours)) continue;
    const bool compared = row.value != FigureValue::kOurs;
    const double ours = median_of_medians(pair.ours);
    if (!measured.ours.has_value()) measured.ours = ours;  // Shown even when the peer is lost.
    if (compared && !all_measured(pair.theirs)) continue;
    const std::optional<double> value = compared ? ratio_of(row, pair) : ours / unit_ns(row.unit);
    if (!value.has_value()) continue;
    const bool worse = !measured.value.has_value() ||
                       (row.at_most ? *value > *measured.value : *value < *measured.value);
    if (!worse) continue;
    measured.value = value;
    measured.ours = ours;
    measured.theirs.reset();
    if (all_measured(pair.theirs)) measured.theirs = median_of_medians(pair.theirs);
    measured.peer = pair.peer;
    measured.samples = 0;
    for (const auto& process : pair.ours) {
      measured.samples += static_cast<std::int64_t>(process.size());
    }
  }
  judge_target(measured);
}

void judge_geomean(MeasuredRow& measured, const std::vector<MeasuredRow>& others) {
  const std::regex of(measured.row.of);
  double sum = 0;
  measured.samples = 0;
  for (const MeasuredRow& other : others) {
    if (!std::regex_search(other.row.figure, of)) continue;
    if (!other.ours.has_value() || !other.theirs.has_value() || !other.reason.empty()) {
      measured.reason = "needs " + other.row.figure + ", which has no ratio";
      return;
    }
    sum += std::log(*other.ours / *other.theirs);
    ++measured.samples;
  }
  if (measured.samples == 0) {
    measured.reason = "no row is named by " + measured.row.of;
    return;
  }
  measured.value = std::exp(sum / static_cast<double>(measured.samples));
  judge_target(measured);
}

}  // namespace breakeven
