#include <algorithm>
#include <cmath>

#include "compiler/support/check.h"
#include "harness/scenario/csv.h"
#include "harness/traffic/random.h"
#include "harness/traffic/traffic.h"

namespace breakeven {
namespace {

using Kind = TrafficSpec::Kind;

/// A trace repeated end to end, its stamps scaled to the scenario's rate.
struct Trace {
  std::vector<Nanos> stamps;  ///< As published, from 0.
  double period_ns = 0;       ///< Span plus one mean gap, as published.
  double scale = 1;
  double rate_per_s = 0;  ///< After scaling.
};

Trace read_trace(const TrafficSpec& traffic) {
  Trace trace;
  trace.stamps = read_stamps(CsvFile(traffic.file), traffic.time_column);
  const double count = static_cast<double>(trace.stamps.size());
  trace.period_ns = static_cast<double>(trace.stamps.back()) * count / (count - 1);
  const double published = count / trace.period_ns * 1e9;
  trace.rate_per_s = traffic.rate_per_s > 0 ? traffic.rate_per_s : published;
  trace.scale = published / trace.rate_per_s;
  return trace;
}

/// Due times within the window, and the row of the first.
std::vector<Nanos> replay(const Trace& trace, double duration_ns, double offset_ns,
                          std::int64_t& first_row) {
  const double period = trace.period_ns * trace.scale;
  double cycle = std::floor(offset_ns / period);
  const double inside = offset_ns / trace.scale - cycle * trace.period_ns;
  std::size_t row = static_cast<std::size_t>(
      std::lower_bound(trace.stamps.begin(), trace.stamps.end(), inside,
                       [](Nanos stamp, double at) { return static_cast<double>(stamp) < at; }) -
      trace.stamps.begin());
  first_row = static_cast<std::int64_t>(row % trace.stamps.size());
  std::vector<Nanos> due;
  for (;; ++row) {
    if (row == trace.stamps.size()) {
      row = 0;
      ++cycle;
    }
    const double at =
        (cycle * trace.period_ns + static_cast<double>(trace.stamps[row])) * trace.scale -
        offset_ns;
    if (at >= duration_ns) return due;
    due.push_back(std::max<Nanos>(0, std::llround(at)));
  }
}

/// Due times of independent gaps with mean 1 / rate.
template <typename Gap>
std::vector<Nanos> renew(double rate_per_s, double duration_ns, Gap gap) {
  std::vector<Nanos> due;
  for (double at = gap() / rate_per_s * 1e9; at < duration_ns; at += gap() / rate_per_s * 1e9) {
    due.push_back(std::llround(at));
  }
  return due;
}

}  // namespace

std::vector<Request> make_requests(const Scenario& scenario, std::uint64_t seed, double duration_s,
                                   double offset_s) {
  BE_CHECK(duration_s >= 0 && offset_s >= 0);
  const TrafficSpec& traffic = scenario.traffic;
  TrafficRandom random(seed, "arrivals");
  std::vector<Nanos> due;
  std::int64_t first_row = static_cast<std::int64_t>(offset_s * traffic.rate_per_s);
  switch (traffic.kind) {
    case Kind::kTrace:
      due = replay(read_trace(traffic), duration_s * 1e9, offset_s * 1e9, first_row);
      break;
    case Kind::kPoisson:
      due = renew(traffic.rate_per_s, duration_s * 1e9, [&] { return random.exponential(); });
      break;
    case Kind::kGamma: {
      const double shape = 1 / (traffic.cv * traffic.cv);
      due =
          renew(traffic.rate_per_s, duration_s * 1e9, [&] { return random.gamma(shape) / shape; });
      break;
    }
    case Kind::kClosedLoop:
      break;
  }
  ShapeStream shapes(scenario, seed, first_row);
  std::vector<Request> requests;
  requests.reserve(due.size());
  for (const Nanos at : due) {
    requests.push_back({static_cast<std::int64_t>(requests.size()), at, shapes.next()});
  }
  return requests;
}

double trace_seconds(const Scenario& scenario) {
  if (scenario.traffic.kind != Kind::kTrace) return 0;
  const Trace trace = read_trace(scenario.traffic);
  return trace.period_ns * trace.scale / 1e9;
}

double mean_rate_per_s(const Scenario& scenario) {
  if (scenario.traffic.kind == Kind::kClosedLoop) return 0;
  if (scenario.traffic.kind == Kind::kTrace) return read_trace(scenario.traffic).rate_per_s;
  return scenario.traffic.rate_per_s;
}

}  // namespace breakeven
