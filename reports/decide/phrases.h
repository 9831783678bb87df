#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "reports/schema/number.h"

namespace breakeven {

/// "1,234", "12.3", "0.0041": three significant digits, thousands separated.
std::string short_figure(double value);

/// "12.3 ms", "1.13 M requests", "$0.042", "4.1 %" (unit "share"), "1.4x" (unit "ratio").
/// `like` chooses how the unit is written (ms or s) by another value, so that figures of one row
/// agree.
std::string figure_with_unit(double value, const std::string& unit,
                             std::optional<double> like = std::nullopt);

/// What `like` is for figures that stand in one row: the largest of them.
std::optional<double> row_scale(std::span<const Number* const> row);

/// figure_with_unit, or the reason why there is none.
std::string text_of(const Number& number, std::optional<double> like = std::nullopt);

/// Ends of the interval as text, without their unit where value and both ends share it: "11.9" and
/// "12.8" of 12.3 ms. An end that is not there gives "".
std::pair<std::string, std::string> interval_ends(const Number& number,
                                                  std::optional<double> like = std::nullopt);

/// text_of with the interval: "12.3 ms (11.9 to 12.8)"; an open end is said.
std::string text_with_interval(const Number& number, std::optional<double> like = std::nullopt);

}  // namespace breakeven
