#include "reports/schema/number.h"

#include <cmath>
#include <utility>

#include "compiler/support/check.h"

namespace breakeven {

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::kMeasured:
      return "measured";
    case Origin::kModelled:
      return "modelled";
    case Origin::kAssumed:
      return "assumed";
    case Origin::kGiven:
      return "given";
  }
  BE_CHECK(false, "unknown origin");
  return {};
}

std::optional<Origin> origin_of(std::string_view name) {
  for (const Origin origin :
       {Origin::kMeasured, Origin::kModelled, Origin::kAssumed, Origin::kGiven}) {
    if (name == name_of(origin)) return origin;
  }
  return std::nullopt;
}

Number Number::none(std::string unit, std::string why, Origin origin, std::int64_t samples) {
  Number number;
  number.unit = std::move(unit);
  number.missing = std::move(why);
  number.origin = origin;
  number.samples = samples;
  return number;
}

Number Number::given(double value, std::string unit, Origin origin) {
  if (!std::isfinite(value)) return none(std::move(unit), "n/a: not a finite number", origin);
  Number number;
  number.value = value;
  number.unit = std::move(unit);
  number.origin = origin;
  return number;
}

Number Number::ratio(double numerator, double denominator, std::string unit, Origin origin,
                     std::int64_t samples) {
  if (!std::isfinite(numerator) || !std::isfinite(denominator)) {
    return none(std::move(unit), "n/a: a part of the ratio is not a finite number", origin,
                samples);
  }
  if (denominator == 0) {
    return none(std::move(unit), "n/a: the ratio's denominator is zero", origin, samples);
  }
  Number number = given(numerator / denominator, std::move(unit), origin);
  number.samples = samples;
  return number;
}

}  // namespace breakeven
