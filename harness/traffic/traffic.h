#pragma once

#include <cstdint>
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

/// The requests of `duration_s` of the scenario's traffic: pure in (scenario, seed), the same on every
/// machine. Throws UserError for a trace with negative, unordered, NaN or missing stamps
/// (file:line:column). `offset_s` starts later in a trace, so that trials see different stretches.
std::vector<Request> make_requests(const Scenario& scenario, std::uint64_t seed, double duration_s,
                                   double offset_s = 0);

/// The shape distribution, most likely first; exact for histogram, list, trace column and fixed.
std::vector<WeightedShape> shape_distribution(const Scenario& scenario);

/// Mean rate of the traffic after scaling.
double mean_rate_per_s(const Scenario& scenario);

/// "batch=1 length=13".
std::string shape_text(const Scenario& scenario, const ShapeBinding& shape);

}  // namespace breakeven
