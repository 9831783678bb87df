#include "reports/decide/evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compiler/support/error.h"

namespace breakeven {
namespace {

std::map<int, Observed>* phase_of(ArmEvidence& arm, const std::string& phase) {
  if (phase == "cold") return &arm.cold;
  if (phase == "warm_disk") return &arm.warm_disk;
  if (phase == "steady") return &arm.steady;
  if (phase == "traffic") return &arm.traffic;
  return nullptr;
}

/// In order of due time; throws for a shape that the trial does not list.
std::vector<RawSample> checked_samples(const Trial& trial, const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / trial.raw_file;
  std::vector<RawSample> samples = read_raw_samples(file, trial.raw_checksum);
  for (const RawSample& sample : samples) {
    if (sample.shape >= 0 && static_cast<std::size_t>(sample.shape) < trial.shapes.size()) continue;
    throw UserError({.file = file.string(),
                     .message = "a sample names a shape that its trial does not list",
                     .value = std::to_string(sample.shape),
                     .fix = "Keep results.json and its raw files from the same run together"});
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const RawSample& a, const RawSample& b) { return a.due_ns < b.due_ns; });
  return samples;
}

std::vector<double> values_of(const Observed& observed, Measure measure, bool skip_first) {
  std::vector<double> values;
  values.reserve(observed.samples.size());
  for (const RawSample& sample : observed.samples) {
    if (is_failed(sample) || (skip_first && (sample.flags & kSampleFirst) != 0)) continue;
    const std::int64_t ns =
        measure == Measure::kLatency
            ? sample.done_ns - sample.due_ns
            : sample.done_ns - sample.start_ns - sample.compile_ns - sample.cache_load_ns;
    values.push_back(static_cast<double>(ns) * 1e-6);
  }
  return values;
}

/// Draws moving blocks of both processes. Processes of the same length served the same stream, so
/// they share the blocks: what a shape or a burst does to both cancels.
void append_blocks(const std::vector<double>& a, const std::vector<double>& b, Random& random,
                   std::vector<double>& to_a, std::vector<double>& to_b) {
  const auto append = [](const std::vector<double>& from, std::size_t start, std::size_t length,
                         std::vector<double>& to) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(start),
              from.begin() + static_cast<std::ptrdiff_t>(start + length));
  };
  const auto draw = [&](std::size_t size, const auto& take) {
    const auto block = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(size))));
    for (std::size_t left = size; left > 0;) {
      const std::size_t length = std::min(block, left);
      take(random.below(static_cast<std::uint32_t>(size - length + 1)), length);
      left -= length;
    }
  };
  const bool same = a.size() == b.size();
  draw(a.size(), [&](std::size_t start, std::size_t length) {
    append(a, start, length, to_a);
    if (same) append(b, start, length, to_b);
  });
  if (same) return;
  draw(b.size(), [&](std::size_t start, std::size_t length) { append(b, start, length, to_b); });
}

std::vector<double> pooled(const Groups& groups) {
  std::vector<double> pool;
  for (const auto& group : groups) pool.insert(pool.end(), group.begin(), group.end());
  return pool;
}

}  // namespace

bool is_failed(const RawSample& sample) {
  return (sample.flags & kSampleFailed) != 0 || sample.status != kStatusOk;
}

bool has_stall(const RawSample& sample) { return sample.compile_ns + sample.cache_load_ns > 0; }

std::vector<ArmEvidence> load_evidence(const Results& results,
                                       const std::filesystem::path& directory) {
  std::vector<ArmEvidence> arms;
  for (const std::string& name : results.arms) {
    ArmEvidence& arm = arms.emplace_back();
    arm.arm = name;
    for (const Trial& trial : results.trials) {
      if (trial.arm != name) continue;
      if (!trial.ok) {
        arm.failures.push_back(trial.phase + ", process " + std::to_string(trial.process) + ": " +
                               (trial.failure.empty() ? "failed" : trial.failure));
        continue;
      }
      if (trial.phase == "accuracy") arm.accuracy = &trial;
      std::map<int, Observed>* phase = phase_of(arm, trial.phase);
      if (phase == nullptr) continue;
      Observed observed{.trial = &trial};
      if (!trial.raw_file.empty()) observed.samples = checked_samples(trial, directory);
      (*phase)[trial.process] = std::move(observed);
    }
  }
  return arms;
}

Groups groups_of(const std::map<int, Observed>& phase, Measure measure, bool skip_first) {
  Groups groups;
  for (const auto& [process, observed] : phase) {
    groups.push_back(values_of(observed, measure, skip_first));
  }
  return groups;
}

std::pair<Groups, Groups> paired_groups(const std::map<int, Observed>& baseline,
                                        const std::map<int, Observed>& arm, Measure measure) {
  std::pair<Groups, Groups> groups;
  for (const auto& [process, observed] : arm) {
    const auto other = baseline.find(process);
    if (other == baseline.end()) continue;
    std::vector<double> a = values_of(other->second, measure, false);
    std::vector<double> b = values_of(observed, measure, false);
    if (a.empty() || b.empty()) continue;
    groups.first.push_back(std::move(a));
    groups.second.push_back(std::move(b));
  }
  return groups;
}

Number paired_statistic(const Groups& baseline, const Groups& arm, const std::string& unit,
                        double (*statistic)(const std::vector<double>&, const std::vector<double>&),
                        std::uint64_t seed, bool intervals) {
  if (baseline.empty()) return Number::none(unit, "not enough data: no repetition has both arms");
  const std::vector<double> all = pooled(arm);
  Number number = Number::given(statistic(pooled(baseline), all), unit, Origin::kMeasured);
  number.samples = static_cast<std::int64_t>(all.size());
  number.processes = static_cast<std::int64_t>(arm.size());
  if (!number.value || !intervals) return number;
  Random random(seed);
  std::vector<double> values;
  for (int resample = 0; resample < kResamples; ++resample) {
    std::vector<double> a, b;
    for (std::size_t i = 0; i < baseline.size(); ++i) {
      const std::uint32_t drawn = random.below(static_cast<std::uint32_t>(baseline.size()));
      append_blocks(baseline[drawn], arm[drawn], random, a, b);
    }
    values.push_back(statistic(a, b));
  }
  const auto interval =
      bootstrap_interval(*number.value, std::move(values), baseline.size(), Range::kNonnegative);
  if (interval) {
    number.lo = interval->lo;
    number.hi = interval->hi;
    number.interval = "paired bootstrap over repetitions, widened by Student's t";
  }
  return number;
}

}  // namespace breakeven
