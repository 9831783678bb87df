#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace breakeven {

/// Where a number comes from; every number that a reader sees carries one.
enum class Origin : std::uint8_t { kMeasured, kModelled, kAssumed, kGiven };
std::string_view name_of(Origin origin);  ///< "measured", "modelled", "assumed", "given".
/// The origin of that name; empty for any other text.
std::optional<Origin> origin_of(std::string_view name);

/// A number fit to show: value with interval, unit, origin and sample count, or the reason why
/// there is none. `value` empty means "not enough data" or "n/a", and `missing` says which and why.
struct Number {
  std::optional<double> value;
  std::optional<double> lo, hi;  ///< 95 % interval; empty when none can be given.
  std::string unit;              ///< "ms", "requests", "usd", "1/s", "ratio", ...
  Origin origin = Origin::kMeasured;
  std::int64_t samples = 0;    ///< Samples after warm-up behind it; 0 for given numbers.
  std::int64_t processes = 0;  ///< Processes that gave them; 0 where that has no meaning.
  std::string interval;        ///< How lo and hi were found; empty without them.
  std::string missing;         ///< Why value is empty.

  static Number none(std::string unit, std::string why, Origin origin = Origin::kMeasured,
                     std::int64_t samples = 0);
  /// A single figure without interval; a value that is not finite becomes `none`.
  static Number given(double value, std::string unit, Origin origin = Origin::kGiven);
  /// numerator / denominator in full precision; `none` with the reason for x/0 and for non-finite
  /// parts, so that no NaN or infinity ever reaches a report.
  static Number ratio(double numerator, double denominator, std::string unit,
                      Origin origin = Origin::kMeasured, std::int64_t samples = 0);
};

}  // namespace breakeven
