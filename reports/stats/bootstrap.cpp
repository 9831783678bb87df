#include <algorithm>
#include <bit>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "compiler/support/check.h"
#include "compiler/support/text.h"
#include "reports/stats/stats.h"

namespace breakeven {
namespace {

constexpr std::size_t kFewestProcesses = 3;
constexpr const char* kBootstrapMethod = "bootstrap over processes, widened by Student's t";

std::uint64_t splitmix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::vector<const std::vector<double>*> not_empty(const Groups& groups) {
  std::vector<const std::vector<double>*> kept;
  for (const auto& group : groups) {
    if (!group.empty()) kept.push_back(&group);
  }
  return kept;
}

std::int64_t count_of(const Groups& groups) {
  std::size_t count = 0;
  for (const auto& group : groups) count += group.size();
  return static_cast<std::int64_t>(count);
}

void set_interval(Number& number, std::vector<double> values, std::size_t processes, Range range) {
  const auto interval = bootstrap_interval(*number.value, std::move(values), processes, range);
  if (!interval) return;
  number.lo = interval->lo;
  number.hi = interval->hi;
  number.interval = kBootstrapMethod;
}

/// Quantiles and means of nonnegative samples are nonnegative.
Range range_of(double least_sample) {
  return least_sample >= 0 ? Range::kNonnegative : Range::kSigned;
}

/// `estimate` moved to `bound` and on, by `widen` times the way. At zero there is no log scale: a
/// lower bound of zero stays, an upper bound over a zero estimate widens linearly.
double widened(double estimate, double bound, double widen, Range range) {
  if (range == Range::kSigned || estimate <= 0) return estimate + widen * (bound - estimate);
  if (bound <= 0) return 0;
  return estimate * std::pow(bound / estimate, widen);
}

/// Pooled samples in ascending order, each process's samples in time order as ranks into them: a
/// resample then only counts ranks, and quantiles are read off one pass.
struct RankedGroups {
  std::vector<double> sorted;
  std::vector<std::vector<std::uint32_t>> ranks;

  explicit RankedGroups(const std::vector<const std::vector<double>*>& groups) {
    struct Owned {
      double value;
      std::uint32_t group, index;
    };
    std::vector<Owned> pool;
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      for (std::uint32_t i = 0; i < groups[g]->size(); ++i) pool.push_back({(*groups[g])[i], g, i});
    }
    std::sort(pool.begin(), pool.end(), [](const Owned& a, const Owned& b) {
      return a.value < b.value || (a.value == b.value && a.group < b.group);
    });
    for (const auto* group : groups) ranks.emplace_back(group->size());
    for (std::uint32_t rank = 0; rank < pool.size(); ++rank) {
      sorted.push_back(pool[rank].value);
      ranks[pool[rank].group][pool[rank].index] = rank;
    }
  }
};

/// values[q][resample] of pooled quantiles.
std::vector<std::vector<double>> bootstrap_quantiles(const RankedGroups& groups,
                                                     std::span<const double> qs,
                                                     std::uint64_t seed) {
  Random random(seed);
  const auto processes = static_cast<std::uint32_t>(groups.ranks.size());
  std::vector<std::vector<double>> values(qs.size());
  std::vector<std::uint32_t> hits(groups.sorted.size());
  for (int resample = 0; resample < kResamples; ++resample) {
    std::fill(hits.begin(), hits.end(), 0);
    std::size_t drawn = 0;
    for (std::uint32_t p = 0; p < processes; ++p) {
      const auto& ranks = groups.ranks[random.below(processes)];
      const auto size = static_cast<std::uint32_t>(ranks.size());
      // Waiting comes in runs: blocks of neighbours keep them together.
      const auto block = static_cast<std::uint32_t>(std::ceil(std::sqrt(size)));
      for (std::uint32_t left = size; left > 0;) {
        const std::uint32_t length = std::min(block, left);
        const std::uint32_t from = random.below(size - length + 1);
        for (std::uint32_t i = from; i < from + length; ++i) ++hits[ranks[i]];
        left -= length;
      }
      drawn += size;
    }
    for (std::size_t q = 0; q < qs.size(); ++q) {
      const auto wanted = static_cast<std::size_t>(
          std::max(1.0, std::ceil(qs[q] * static_cast<double>(drawn) - 1e-9)));
      std::size_t seen = 0, rank = 0;
      if (qs[q] >= 0.5) {  // From the nearer end.
        rank = hits.size();
        while (rank > 0 && seen < drawn - wanted + 1) seen += hits[--rank];
      } else {
        while (seen < wanted) seen += hits[rank++];
        --rank;
      }
      values[q].push_back(groups.sorted[rank]);
    }
  }
  return values;
}

}  // namespace

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = splitmix(seed);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint32_t Random::below(std::uint32_t bound) {
  // Multiply-shift; its bias is below bound / 2^32 and of no account for resampling.
  return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

std::vector<double> bootstrap(std::span<const std::size_t> sample_counts,
                              const std::function<double(const Resample&)>& statistic,
                              std::uint64_t seed, int resamples) {
  BE_CHECK(!sample_counts.empty());
  Random random(seed);
  const auto processes = static_cast<std::uint32_t>(sample_counts.size());
  Resample drawn;
  drawn.process.resize(processes);
  drawn.sample.resize(processes);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(resamples));
  for (int r = 0; r < resamples; ++r) {
    for (std::uint32_t p = 0; p < processes; ++p) {
      drawn.process[p] = random.below(processes);
      const auto size = static_cast<std::uint32_t>(sample_counts[drawn.process[p]]);
      drawn.sample[p].resize(size);
      for (std::uint32_t& index : drawn.sample[p]) index = random.below(size);
    }
    values.push_back(statistic(drawn));
  }
  return values;
}

std::optional<Interval> bootstrap_interval(double estimate, std::vector<double> values,
                                           std::size_t processes, Range range) {
  if (processes < kFewestProcesses || values.empty() || !std::isfinite(estimate))
    return std::nullopt;
  const std::size_t all = values.size();
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (static_cast<double>(all - values.size()) > 0.025 * static_cast<double>(all))
    return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(processes);
  const boost::math::students_t_distribution<double> student(n - 1);
  const double widen = boost::math::quantile(student, 0.975) / 1.959963985 * std::sqrt(n / (n - 1));
  const double lo = std::min(quantile_sorted(values, 0.025), estimate);
  const double hi = std::max(quantile_sorted(values, 0.975), estimate);
  return Interval{widened(estimate, lo, widen, range), widened(estimate, hi, widen, range)};
}

std::vector<Number> pooled_quantiles(const Groups& groups, std::span<const double> qs,
                                     const std::string& unit, std::uint64_t seed, bool intervals) {
  const auto kept = not_empty(groups);
  const std::int64_t count = count_of(groups);
  std::vector<Number> numbers;
  if (kept.empty()) {
    numbers.assign(qs.size(), Number::none(unit, "not enough data: no samples"));
    return numbers;
  }
  const RankedGroups ranked(kept);
  const bool with_interval = intervals && kept.size() >= kFewestProcesses;
  const auto resampled = with_interval ? bootstrap_quantiles(ranked, qs, seed)
                                       : std::vector<std::vector<double>>(qs.size());
  for (std::size_t i = 0; i < qs.size(); ++i) {
    const std::int64_t floor = percentile_floor(qs[i]);
    if (count < floor) {
      numbers.push_back(Number::none(unit,
                                     "not enough data: " + std::to_string(count) + " samples, p" +
                                         format_double(qs[i] * 100) + " needs " +
                                         std::to_string(floor),
                                     Origin::kMeasured, count));
      continue;
    }
    Number number = Number::given(quantile_sorted(ranked.sorted, qs[i]), unit, Origin::kMeasured);
    number.samples = count;
    number.processes = static_cast<std::int64_t>(kept.size());
    if (with_interval) {
      set_interval(number, resampled[i], kept.size(), range_of(ranked.sorted.front()));
    }
    numbers.push_back(std::move(number));
  }
  return numbers;
}

Number pooled_mean(const Groups& groups, const std::string& unit, std::uint64_t seed,
                   bool intervals) {
  const auto kept = not_empty(groups);
  if (kept.empty()) return Number::none(unit, "not enough data: no samples");
  double sum = 0, least = kept.front()->front();
  std::vector<std::size_t> sizes;
  for (const auto* group : kept) {
    least = std::min(least, *std::min_element(group->begin(), group->end()));
    sum = std::accumulate(group->begin(), group->end(), sum);
    sizes.push_back(group->size());
  }
  const std::int64_t count = count_of(groups);
  Number number = Number::ratio(sum, static_cast<double>(count), unit, Origin::kMeasured, count);
  number.processes = static_cast<std::int64_t>(kept.size());
  if (!number.value || !intervals || kept.size() < kFewestProcesses) return number;
  const auto statistic = [&](const Resample& drawn) {
    double total = 0;
    std::size_t size = 0;
    for (std::size_t p = 0; p < drawn.process.size(); ++p) {
      const std::vector<double>& group = *kept[drawn.process[p]];
      for (const std::uint32_t index : drawn.sample[p]) total += group[index];
      size += drawn.sample[p].size();
    }
    return total / static_cast<double>(size);
  };
  set_interval(number, bootstrap(sizes, statistic, seed), kept.size(), range_of(least));
  return number;
}

namespace {}  // namespace

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Number median_over_processes(const std::vector<double>& values, const std::string& unit,
                             std::uint64_t seed, bool intervals) {
  if (values.empty()) return Number::none(unit, "not enough data: no process gave this figure");
  Number number = Number::given(median_of(values), unit, Origin::kMeasured);
  number.samples = number.processes = static_cast<std::int64_t>(values.size());
  if (!number.value || !intervals || values.size() < kFewestProcesses) return number;
  // One figure a process: the order statistics bound the median, and the range is what few allow.
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const auto exact = order_statistics_interval(sorted, 0.5);
  if (exact) {
    number.lo = exact->lo;
    number.hi = exact->hi;
    number.interval = "order statistics of the processes";
    return number;
  }
  const std::vector<std::size_t> sizes(values.size(), 1);
  const auto statistic = [&](const Resample& drawn) {
    std::vector<double> picked;
    for (const std::uint32_t p : drawn.process) picked.push_back(values[p]);
    return median_of(std::move(picked));
  };
  set_interval(number, bootstrap(sizes, statistic, seed), values.size(), range_of(sorted.front()));
  return number;
}

}  // namespace breakeven
