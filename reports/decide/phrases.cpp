#include "reports/decide/phrases.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace breakeven {
namespace {

std::string with_separators(std::string digits) {
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

/// 2.30 -> 2.3, 81.0 -> 81: for counts, whose digits are no claim of precision.
std::string trimmed(std::string text) {
  if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

/// How people say a size of some unit: the factor and what stands behind the figure.
struct Scale {
  double factor = 1;
  const char* suffix = "";
};

Scale scale_of(double size, const std::string& unit) {
  struct Row {
    const char* unit;
    double from;
    Scale scale;
  };
  // The last row of a unit that `size` reaches.
  static constexpr Row kRows[] = {
      {"usd", 0, {100, " cents"}},
      {"usd", 0.001, {}},
      {"requests", 0, {}},
      {"requests", 1e6, {1e-6, " M requests"}},
      {"requests", 1e9, {1e-9, " G requests"}},
      {"requests", 1e12, {1e-12, " T requests"}},
      {"ms", 0, {1e6, " ns"}},
      {"ms", 0.001, {1e3, " µs"}},
      {"ms", 0.1, {1, " ms"}},
      {"ms", 10000, {1e-3, " s"}},
      {"s", 0, {1, " s"}},
      {"s", 7200, {1.0 / 3600, " h"}},
      {"minutes", 0, {60, " s"}},
      {"minutes", 1, {1, " minutes"}},
      {"minutes", 120, {1.0 / 60, " h"}},
      {"minutes", 2880, {1.0 / 1440, " days"}},
  };
  if (size == 0) return unit == "ms" ? Scale{1, " ms"} : Scale{};
  Scale found;
  for (const Row& row : kRows) {
    if (unit == row.unit && size >= row.from) found = row.scale;
  }
  return found;
}

/// " ms" of "12.3 ms", "x" of "1.40x", "" of "$0.04".
std::string unit_part(const std::string& text) {
  return text.substr(text.find_last_of("0123456789") + 1);
}

}  // namespace

std::string short_figure(double value) {
  const double size = std::fabs(value);
  if (size >= 1e15) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
  }
  if (size == 0) return "0";
  // Round to three significant digits first, so that 999.7 becomes 1,000 and not 1000.0.
  const double scale = std::pow(10, 2 - std::floor(std::log10(size)));
  const double rounded = size >= 1000 ? std::round(value) : std::round(value * scale) / scale;
  char text[64];
  const double shown = std::fabs(rounded);
  if (shown >= 100) {
    std::snprintf(text, sizeof text, "%.0f", rounded);
    return with_separators(text);
  }
  const int digits = shown >= 10  ? 1
                     : shown >= 1 ? 2
                                  : 2 - static_cast<int>(std::floor(std::log10(shown)));
  if (digits > 6) {
    std::snprintf(text, sizeof text, "%.2e", rounded);
  } else {
    std::snprintf(text, sizeof text, "%.*f", digits, rounded);
  }
  return text;
}

std::string figure_with_unit(double value, const std::string& unit, std::optional<double> like) {
  const Scale scale = scale_of(std::fabs(like.value_or(value)), unit);
  if (unit == "usd") {
    if (scale.factor != 1) return short_figure(scale.factor * value) + scale.suffix;
    return (value < 0 ? "-$" : "$") + short_figure(std::fabs(value));
  }
  if (unit == "share") return short_figure(100 * value) + " %";
  if (unit == "ratio") return short_figure(value) + "x";
  if (unit == "requests" && value == 1) return "1 request";
  if (unit == "1/s") return short_figure(value) + " per second";
  if (*scale.suffix != '\0') return short_figure(scale.factor * value) + scale.suffix;
  for (const char* counted : {"requests", "days", "kernels", "calls"}) {
    if (unit == counted) return trimmed(short_figure(value)) + " " + unit;
  }
  return unit.empty() ? trimmed(short_figure(value)) : short_figure(value) + " " + unit;
}

std::optional<double> row_scale(std::span<const Number* const> row) {
  std::optional<double> largest;
  for (const Number* number : row) {
    if (!number->value || number->unit == "requests") continue;  // "30" beside "2 M" reads well.
    largest = std::max(largest.value_or(0), std::fabs(*number->value));
  }
  return largest;
}

std::string text_of(const Number& number, std::optional<double> like) {
  if (number.value) return figure_with_unit(*number.value, number.unit, like);
  return number.missing.empty() ? "not measured" : number.missing;
}

std::pair<std::string, std::string> interval_ends(const Number& number,
                                                  std::optional<double> like) {
  std::pair<std::string, std::string> ends;
  if (!number.value) return ends;
  if (!like && number.unit != "requests") like = number.value;
  if (number.lo) ends.first = figure_with_unit(*number.lo, number.unit, like);
  if (number.hi) ends.second = figure_with_unit(*number.hi, number.unit, like);
  const std::string unit = unit_part(figure_with_unit(*number.value, number.unit, like));
  if (unit.empty() || !number.lo || !number.hi) return ends;
  if (unit_part(ends.first) != unit || unit_part(ends.second) != unit) return ends;
  for (std::string* end : {&ends.first, &ends.second}) end->resize(end->size() - unit.size());
  return ends;
}

std::string text_with_interval(const Number& number, std::optional<double> like) {
  const std::string text = text_of(number, like);
  if (!number.value || (!number.lo && !number.hi)) return text;
  const auto [lo, hi] = interval_ends(number, like);
  return text + " (" + (number.lo ? lo : "no lower bound") + " to " +
         (number.hi ? hi : "no upper bound") + ")";
}

}  // namespace breakeven
