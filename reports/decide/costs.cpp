#include "reports/decide/costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "reports/decide/phrases.h"

namespace breakeven {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr const char* kMethod = "paired bootstrap over repetitions, widened by Student's t";

/// What one repetition says about both arms, in seconds.
struct Repetition {
  std::vector<double> saving;  ///< e - c of each closed-loop request, same stream in both arms.
  double start = 0, baseline_start = 0;
  std::vector<double> stall;  ///< By shape class; negative: not met.
  double other_stalls = 0;    ///< Of shapes outside the classes.
  int other_met = 0;
};

double net_service_s(const RawSample& sample) {
  return static_cast<double>(sample.done_ns - sample.start_ns - sample.compile_ns -
                             sample.cache_load_ns) *
         1e-9;
}

/// e - c request by request; when the streams differ, every entry is the difference of the means.
std::vector<double> savings(const Observed& baseline, const Observed& arm) {
  std::vector<double> e, c;
  for (const RawSample& sample : baseline.samples) {
    if (!is_failed(sample)) e.push_back(net_service_s(sample));
  }
  for (const RawSample& sample : arm.samples) {
    if (!is_failed(sample)) c.push_back(net_service_s(sample));
  }
  if (e.empty() || c.empty()) return {};
  if (e.size() == c.size()) {
    for (std::size_t i = 0; i < e.size(); ++i) e[i] -= c[i];
    return e;
  }
  return {mean_of(e) - mean_of(c)};
}

void read_stalls(const Results& results, const Observed& started, Repetition& repetition) {
  std::map<std::string, std::size_t> classes;
  for (std::size_t i = 0; i < results.shape_classes.size(); ++i) {
    classes[results.shape_classes[i].shape] = i;
  }
  std::vector<double> by_shape(started.trial->shapes.size(), -1);
  std::int32_t first_shape = -1;
  for (const RawSample& sample : started.samples) {
    const auto shape = static_cast<std::size_t>(sample.shape);
    if (is_failed(sample) || shape >= by_shape.size()) continue;
    double& stall = by_shape[shape];
    stall = std::max(stall, 0.0);
    if ((sample.flags & kSampleFirst) != 0) {
      first_shape = sample.shape;  // Its compile work lies in the start.
      continue;
    }
    stall += static_cast<double>(sample.compile_ns + sample.cache_load_ns) * 1e-9;
  }
  repetition.stall.assign(results.shape_classes.size(), -1);
  for (std::size_t shape = 0; shape < by_shape.size(); ++shape) {
    if (by_shape[shape] < 0 || static_cast<std::int32_t>(shape) == first_shape) continue;
    const auto found = classes.find(started.trial->shapes[shape]);
    if (found != classes.end()) {
      repetition.stall[found->second] = by_shape[shape];
    } else {
      repetition.other_stalls += by_shape[shape];
      ++repetition.other_met;
    }
  }
  if (first_shape < 0) return;
  const auto found = classes.find(started.trial->shapes[static_cast<std::size_t>(first_shape)]);
  if (found != classes.end()) repetition.stall[found->second] = 0;
}

struct StallMean {
  double mean = 0;
  int met = 0;
};

/// Mean stall of a shape met after the first one.
StallMean stall_mean(const std::vector<const Repetition*>& repetitions, std::size_t first_class) {
  double sum = 0;
  int met = 0;
  for (const Repetition* repetition : repetitions) {
    sum += repetition->other_stalls;
    met += repetition->other_met;
    for (std::size_t s = 0; s < repetition->stall.size(); ++s) {
      if (s == first_class || repetition->stall[s] < 0) continue;
      sum += repetition->stall[s];
      ++met;
    }
  }
  return {met > 0 ? sum / met : 0, met};
}

/// Shapes of (nearly) equal probability are one term: K (1 - (1 - p)^N) is linear in K.
void add_term(BreakEvenInputs& inputs, double p, double k, double tolerance) {
  if (!inputs.probability.empty()) {
    double& last_p = inputs.probability.back();
    double& last_k = inputs.compile_s.back();
    if (std::fabs(p - last_p) <= tolerance * last_p) {
      if (last_k + k > 0) last_p = (last_p * last_k + p * k) / (last_k + k);
      last_k += k;
      return;
    }
  }
  inputs.probability.push_back(p);
  inputs.compile_s.push_back(k);
}

/// The formula's stalls over the given repetitions; `gain` and the start are set by the caller.
BreakEvenInputs stalls_of(const Results& results, const std::vector<const Repetition*>& repetitions,
                          std::size_t first_class) {
  BreakEvenInputs inputs;
  const StallMean mean = stall_mean(repetitions, first_class);
  const double tolerance = results.shape_classes.size() > 200 ? 0.05 : 1e-9;
  for (std::size_t s = 0; s < results.shape_classes.size(); ++s) {
    double sum = 0;
    int met = 0;
    for (const Repetition* repetition : repetitions) {
      if (repetition->stall[s] < 0) continue;
      sum += repetition->stall[s];
      ++met;
    }
    double k = met > 0 ? sum / met : mean.mean;
    if (s == first_class) k = 0;
    if (k > 0) add_term(inputs, results.shape_classes[s].probability, k, tolerance);
  }
  return inputs;
}

std::vector<Repetition> repetitions_of(const Results& results, const ArmEvidence& baseline,
                                       const ArmEvidence& arm, bool kept) {
  const auto& base_start = kept ? baseline.warm_disk : baseline.cold;
  const auto& arm_start = kept ? arm.warm_disk : arm.cold;
  std::vector<Repetition> repetitions;
  for (const auto& [process, steady] : arm.steady) {
    const auto base_steady = baseline.steady.find(process);
    const auto started = arm_start.find(process);
    const auto base_started = base_start.find(process);
    if (base_steady == baseline.steady.end() || started == arm_start.end() ||
        base_started == base_start.end() || !started->second.trial->first_result_ns ||
        !base_started->second.trial->first_result_ns) {
      continue;
    }
    Repetition repetition;
    repetition.saving = savings(base_steady->second, steady);
    if (repetition.saving.empty()) continue;
    repetition.start = static_cast<double>(*started->second.trial->first_result_ns) * 1e-9;
    repetition.baseline_start =
        static_cast<double>(*base_started->second.trial->first_result_ns) * 1e-9;
    read_stalls(results, started->second, repetition);
    repetitions.push_back(std::move(repetition));
  }
  return repetitions;
}

std::size_t first_class_of(const std::vector<Repetition>& repetitions, const ArmEvidence& arm,
                           const Results& results, bool kept) {
  const auto& starts = kept ? arm.warm_disk : arm.cold;
  if (repetitions.empty() || starts.empty()) return SIZE_MAX;
  const Observed& observed = starts.begin()->second;
  if (observed.samples.empty()) return SIZE_MAX;
  const auto shape = static_cast<std::size_t>(observed.samples.front().shape);
  if (shape >= observed.trial->shapes.size()) return SIZE_MAX;
  for (std::size_t s = 0; s < results.shape_classes.size(); ++s) {
    if (results.shape_classes[s].shape == observed.trial->shapes[shape]) return s;
  }
  return SIZE_MAX;
}

/// The formula over the drawn repetitions; `random` set: samples inside them are drawn as well. The
/// start's penalty is the difference of the arms' median starts, the figures that the report shows.
BreakEvenInputs inputs_of(const Results& results, const std::vector<const Repetition*>& drawn,
                          std::size_t first_class, Random* random) {
  BreakEvenInputs inputs = stalls_of(results, drawn, first_class);
  double saving = 0, requests = 0;
  std::vector<double> starts, baseline_starts;
  for (const Repetition* repetition : drawn) {
    starts.push_back(repetition->start);
    baseline_starts.push_back(repetition->baseline_start);
    const auto size = static_cast<std::uint32_t>(repetition->saving.size());
    requests += size;
    if (random == nullptr) {
      saving = std::accumulate(repetition->saving.begin(), repetition->saving.end(), saving);
    } else {
      for (std::uint32_t i = 0; i < size; ++i) saving += repetition->saving[random->below(size)];
    }
  }
  inputs.saving_per_request_s = saving / requests;
  inputs.start_penalty_s = median_of(std::move(starts)) - median_of(std::move(baseline_starts));
  return inputs;
}

/// A figure of the model with its bootstrap interval.
template <typename Figure>
Number figure_of(const CostModel& model, const std::string& unit, Origin origin,
                 const Figure& figure) {
  Number number = Number::given(figure(model.estimate), unit, origin);
  number.samples = model.samples;
  number.processes = static_cast<std::int64_t>(model.processes);
  if (!number.value || model.resampled.empty()) return number;
  std::vector<double> values;
  for (const BreakEvenInputs& inputs : model.resampled) values.push_back(figure(inputs));
  const auto interval =
      bootstrap_interval(*number.value, std::move(values), model.processes, Range::kSigned);
  if (interval) {
    number.lo = interval->lo;
    number.hi = interval->hi;
    number.interval = kMethod;
  }
  return number;
}

double requests_or_never(const BreakEvenInputs& inputs) {
  return break_even_requests(inputs).value_or(kNever);
}

/// Break-even with an interval whose upper end may be "never".
Number requests_number(const CostModel& model, bool& never) {
  const double estimate = requests_or_never(model.estimate);
  never = estimate == kNever;
  if (never) {
    const bool slower = model.estimate.saving_per_request_s <= 0;
    Number number =
        Number::none("requests",
                     slower ? "never: a request costs as much as in the baseline or more"
                            : "never: the costs exceed what 1e15 requests save",
                     Origin::kModelled, model.samples);
    number.processes = static_cast<std::int64_t>(model.processes);
    if (model.processes >= 3 && !model.resampled.empty()) {
      std::vector<double> values;
      for (const BreakEvenInputs& inputs : model.resampled)
        values.push_back(requests_or_never(inputs));
      std::sort(values.begin(), values.end());
      if (const double lo = quantile_sorted(values, 0.025); lo < kNever) {
        number.lo = lo;
        number.interval = std::string(kMethod) + "; no upper end";
      }
    }
    return number;
  }
  Number number = Number::given(estimate, "requests", Origin::kModelled);
  number.samples = model.samples;
  number.processes = static_cast<std::int64_t>(model.processes);
  if (model.resampled.empty()) return number;
  std::vector<double> values;
  for (const BreakEvenInputs& inputs : model.resampled) values.push_back(requests_or_never(inputs));
  const auto pays =
      std::count_if(values.begin(), values.end(), [](double v) { return v < kNever; });
  const double paying = static_cast<double>(pays) / static_cast<double>(values.size());
  if (const auto interval =
          bootstrap_interval(estimate, values, model.processes, Range::kNonnegative)) {
    number.lo = interval->lo;
    number.hi = interval->hi;
    number.interval = kMethod;
    return number;
  }
  if (model.processes < 3) return number;
  std::sort(values.begin(), values.end());
  number.lo = std::min(estimate, quantile_sorted(values, 0.025));
  number.interval = std::string(kMethod) + "; no upper end, " +
                    figure_with_unit(1 - paying, "share") + " of resamples never pay back";
  return number;
}

Number scaled(Number number, double factor, const std::string& unit, Origin origin) {
  number.unit = unit;
  number.origin = origin;
  for (std::optional<double>* part : {&number.value, &number.lo, &number.hi}) {
    if (*part) **part *= factor;
  }
  return number;
}

std::vector<BreakEvenSummary::CurvePoint> curve_of(const CostModel& model,
                                                   const std::optional<double>& life) {
  const auto pays = break_even_requests(model.estimate);
  double last = life.value_or(1e6);
  if (pays) last = std::max(std::min(last, 20 * std::max(*pays, 50.0)), 3 * *pays);
  last = std::max(last, 100.0);
  constexpr int kPoints = 60;
  std::vector<BreakEvenSummary::CurvePoint> curve;
  for (int i = 0; i <= kPoints; ++i) {
    const double n = i == 0 ? 0 : std::pow(last, static_cast<double>(i) / kPoints);
    BreakEvenSummary::CurvePoint point{.requests = n, .saving_s = saving_after(model.estimate, n)};
    point.lo_s = point.hi_s = point.saving_s;
    std::vector<double> values;
    for (std::size_t r = 0; r < model.resampled.size(); r += 4) {
      values.push_back(saving_after(model.resampled[r], n));
    }
    if (const auto interval = bootstrap_interval(point.saving_s, std::move(values), model.processes,
                                                 Range::kSigned)) {
      point.lo_s = interval->lo;
      point.hi_s = interval->hi;
    }
    curve.push_back(point);
  }
  return curve;
}

}  // namespace

CostModel cost_model(const Results& results, const ArmEvidence& baseline, const ArmEvidence& arm,
                     bool kept, bool intervals) {
  CostModel model;
  const std::vector<Repetition> repetitions = repetitions_of(results, baseline, arm, kept);
  if (repetitions.empty()) {
    model.missing = std::string("not enough data: no repetition has both a steady and a ") +
                    (kept ? "warm" : "cold") + " start trial of both arms";
    return model;
  }
  const std::size_t first_class = first_class_of(repetitions, arm, results, kept);
  std::vector<const Repetition*> drawn;
  for (const Repetition& repetition : repetitions) {
    drawn.push_back(&repetition);
    model.samples += static_cast<std::int64_t>(repetition.saving.size());
  }
  model.processes = repetitions.size();
  model.estimate = inputs_of(results, drawn, first_class, nullptr);
  const StallMean mean = stall_mean(drawn, first_class);
  model.stall_per_new_shape_s = mean.mean;
  model.shapes_met = mean.met;
  if (!intervals || repetitions.size() < 3) return model;
  Random random(0x5eed + (kept ? 1 : 0));
  for (int resample = 0; resample < kResamples; ++resample) {
    for (const Repetition*& one : drawn) {
      one = &repetitions[random.below(static_cast<std::uint32_t>(repetitions.size()))];
    }
    model.resampled.push_back(inputs_of(results, drawn, first_class, &random));
  }
  return model;
}

BreakEvenSummary summarise_costs(const CostModel& model, const Results& results,
                                 const std::optional<double>& life) {
  BreakEvenSummary summary;
  if (!model.missing.empty()) {
    const auto none = [&](const char* unit) {
      return Number::none(unit, model.missing, Origin::kModelled);
    };
    summary.requests = none("requests");
    summary.minutes = none("minutes");
    summary.invested_usd = summary.saving_per_life_usd = none("usd");
    summary.saving_per_life_s = none("s");
    summary.saving_per_request_ms = summary.start_penalty_ms = summary.stall_per_new_shape_ms =
        none("ms");
    return summary;
  }
  const double usd_per_s = results.usd_per_hour / 3600;
  summary.requests = requests_number(model, summary.never);
  summary.minutes =
      results.rate_per_s > 0
          ? scaled(summary.requests, 1 / results.rate_per_s / 60, "minutes", Origin::kModelled)
          : Number::none("minutes", "n/a: the scenario has no arrival rate", Origin::kModelled);
  summary.invested_usd = figure_of(model, "usd", Origin::kModelled, [&](const auto& inputs) {
    const auto pays = break_even_requests(inputs);
    const double until = pays.value_or(life.value_or(1e6));
    return std::max(0.0, until * inputs.saving_per_request_s - saving_after(inputs, until)) *
           usd_per_s;
  });
  if (life) {
    summary.saving_per_life_s = figure_of(model, "s", Origin::kModelled, [&](const auto& inputs) {
      return saving_after(inputs, *life);
    });
    summary.saving_per_life_usd =
        scaled(summary.saving_per_life_s, usd_per_s, "usd", Origin::kModelled);
  } else {
    const char* why = "n/a: the process is never restarted, so its life has no end";
    summary.saving_per_life_s = Number::none("s", why, Origin::kModelled);
    summary.saving_per_life_usd = Number::none("usd", why, Origin::kModelled);
  }
  summary.saving_per_request_ms = figure_of(model, "ms", Origin::kMeasured, [](const auto& inputs) {
    return 1000 * inputs.saving_per_request_s;
  });
  summary.start_penalty_ms = figure_of(model, "ms", Origin::kMeasured, [](const auto& inputs) {
    return 1000 * inputs.start_penalty_s;
  });
  summary.stall_per_new_shape_ms =
      model.shapes_met > 0
          ? Number::given(1000 * model.stall_per_new_shape_s, "ms", Origin::kMeasured)
          : Number::none("ms", "not enough data: no second shape was met after the start");
  summary.stall_per_new_shape_ms.samples = model.shapes_met;
  summary.curve = curve_of(model, life);
  return summary;
}

}  // namespace breakeven
