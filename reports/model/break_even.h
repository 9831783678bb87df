#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace breakeven {

/// Inputs of the break-even formula for one process life, in seconds.
///   S(N) = N * saving_per_request - start_penalty - sum over shapes of K_s (1 - (1 - p_s)^N)
struct BreakEvenInputs {
  double saving_per_request_s = 0;  ///< Sum of p_s (e_s - c_s); negative when the arm is slower.
  double start_penalty_s = 0;       ///< C0: later first result than the baseline's, compiles apart.
  std::vector<double> probability;  ///< p_s, each in [0, 1].
  std::vector<double>
      compile_s;  ///< K_s, the stall that a shape's first request costs; same length.
};

/// S(N): expected seconds of service saved by N requests of one process, N >= 0 and real.
double saving_after(const BreakEvenInputs& inputs, double requests);

/// Smallest whole N from which on S(N) >= 0 for every larger N; empty: never. 0 when the arm starts
/// no later and never falls behind. Exact to the request up to 1e15.
std::optional<double> break_even_requests(const BreakEvenInputs& inputs);

/// Expected number of distinct shapes met, sum of 1 - (1 - p_s)^N.
double expected_distinct_shapes(std::span<const double> probability, double requests);

/// Requests of a process life; restarts 0 means "never restarted" and gives no finite life.
std::optional<double> requests_per_life(double rate_per_s, double restarts_per_day);

}  // namespace breakeven
