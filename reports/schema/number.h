#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace breakeven {

/// Where a number comes from; every number that a reader sees carries one.
enum class Origin : std::uint8_t { kMeasured, kModelled, kAssumed, kGiven };
std::string_view name_of(Origin origin);

/// A number fit to show: value with interval, unit, origin and sample count, or the reason why there
/// is none. `value` empty means "not enough data" or "n/a", and `missing` says which and why.
struct Number {
  std::optional<double> value;
  std::optional<double> lo, hi;  ///< 95 % interval; empty when none can be given.
  std::string unit;              ///< "ms", "requests", "usd", "1/s", "ratio", ...
  Origin origin = Origin::kMeasured;
  std::int64_t samples = 0;      ///< Samples after warm-up behind it; 0 for given numbers.
  std::string missing;           ///< Why value is empty.

  static Number none(std::string unit, std::string why, Origin origin = Origin::kMeasured,
                     std::int64_t samples = 0);
  static Number given(double value, std::string unit, Origin origin = Origin::kGiven);
};

}  // namespace breakeven
