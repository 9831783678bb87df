#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace breakeven {

/// What a service asks of a compiled arm. JSON keys have the members' names; a key that is left out
/// keeps the default here, "policy": 1 is the version, "name" and "description" are free text.
struct Policy {
  std::string name = "default";
  std::string description;
  int min_processes = 5;      ///< Fewest good processes an arm and phase.
  double min_speedup = 1.05;  ///< The whole interval of the speed-up must lie at or above it.
  double max_break_even_life_share = 0.5;  ///< Break-even within this share of a process life.
  double p99_headroom = 0.0;   ///< Share of the SLO to keep free: p99 <= slo * (1 - headroom).
  double max_p99_ratio = 1.0;  ///< The arm's p99 over the baseline's, where the SLO is not met.
  double max_fallback_share = 0.01;         ///< Requests served eagerly in a compiled arm.
  double max_accuracy_ratio = 1.0;          ///< RMSE over its limit.
  std::optional<double> max_cold_start_ms;  ///< First result of a new process; none: no limit.
  std::optional<double> max_payback_days;   ///< Engineering cost over daily saving; none: no limit.
};

/// Reads a policy's text; "" gives the defaults. Throws UserError for bad JSON, wrong types,
/// figures out of range and unknown keys (with the nearest known one); `name` is what messages call
/// the file.
Policy parse_policy(std::string_view text, const std::string& name = "policy");

}  // namespace breakeven
