#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace breakeven {

/// One request of the stream. `due` is relative to the start of traffic.
struct Request {
  std::int64_t id = 0;
  Nanos due = 0;
  ShapeBinding shape;
};

/// Distinct shape with its share of the stream.
struct WeightedShape {
  ShapeBinding shape;
  double probability = 0;
};

/// The requests due within `duration_s` of the scenario's traffic: pure in (scenario, seed), the
/// same bytes on every machine. None for a closed loop, which has no arrivals of its own. Throws
/// UserError for a trace with negative, unordered, NaN or missing stamps (file:line:column).
/// `offset_s` starts later in a trace, counted after scaling, so that trials see different
/// stretches; a trace that ends starts over.
std::vector<Request> make_requests(const Scenario& scenario, std::uint64_t seed, double duration_s,
                                   double offset_s = 0);

/// Length of the scenario's trace after scaling; 0 when arrivals come from no trace.
double trace_seconds(const Scenario& scenario);

/// The shapes of successive requests, without arrivals: what a closed loop draws from. In published
/// order a trace column is read from `first_row` on and starts over at its end.
class ShapeStream {
 public:
  ShapeStream(const Scenario& scenario, std::uint64_t seed, std::int64_t first_row = 0);
  ~ShapeStream();
  ShapeStream(ShapeStream&&) noexcept;
  ShapeStream& operator=(ShapeStream&&) noexcept;
  ShapeBinding next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The shape distribution, most likely first, equal ones in order of sizes. Exact for histogram,
/// list, trace column and fixed sizes; dims of one trace file are taken jointly, others as
/// independent. A log-normal dim is given by its exact probabilities on whole sizes. At most
/// 100,000 shapes, the likeliest.
std::vector<WeightedShape> shape_distribution(const Scenario& scenario);

/// Mean rate of the traffic after scaling; 0 for a closed loop.
double mean_rate_per_s(const Scenario& scenario);

/// "batch=1 length=13".
std::string shape_text(const Scenario& scenario, const ShapeBinding& shape);

}  // namespace breakeven
