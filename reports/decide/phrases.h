#pragma once

#include <string>

#include "reports/schema/number.h"

namespace breakeven {

/// "1,234", "12.3", "0.0041": three significant digits, thousands separated.
std::string short_figure(double value);

/// "12.3 ms", "1.13 M requests", "$0.042", "4.1 %" (unit "share"), "1.4x" (unit "ratio").
std::string figure_with_unit(double value, const std::string& unit);

/// figure_with_unit, or the reason why there is none.
std::string text_of(const Number& number);

/// text_of with the interval: "12.3 ms (11.9 to 12.8)"; an open end is said.
std::string text_with_interval(const Number& number);

}  // namespace breakeven
