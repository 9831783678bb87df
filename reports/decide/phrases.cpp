#include "reports/decide/phrases.h"

#include <array>
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

std::string figure_with_unit(double value, const std::string& unit) {
  if (unit == "usd") {
    if (value != 0 && std::fabs(value) < 0.001) return short_figure(100 * value) + " cents";
    return (value < 0 ? "-$" : "$") + short_figure(std::fabs(value));
  }
  if (unit == "share") return short_figure(100 * value) + " %";
  if (unit == "ratio") return short_figure(value) + "x";
  if (unit == "requests" && std::fabs(value) >= 1e6) {
    struct Scale {
      double at;
      const char* name;
    };
    constexpr std::array<Scale, 3> kScales = {{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}}};
    for (const Scale& scale : kScales) {
      if (std::fabs(value) >= scale.at)
        return short_figure(value / scale.at) + scale.name + " requests";
    }
  }
  if (unit == "ms" && value != 0 && std::fabs(value) < 0.001) {
    return short_figure(value * 1e6) + " ns";
  }
  if (unit == "ms" && value != 0 && std::fabs(value) < 0.1) {
    return short_figure(value * 1000) + " µs";
  }
  if (unit == "ms" && std::fabs(value) >= 10000) return short_figure(value / 1000) + " s";
  if (unit == "s" && std::fabs(value) >= 7200) return short_figure(value / 3600) + " h";
  if (unit == "minutes" && std::fabs(value) < 1) return short_figure(value * 60) + " s";
  if (unit == "minutes" && std::fabs(value) >= 2880) return short_figure(value / 1440) + " days";
  if (unit == "minutes" && std::fabs(value) >= 120) return short_figure(value / 60) + " h";
  if (unit == "requests" && value == 1) return "1 request";
  if (unit == "1/s") return short_figure(value) + " per second";
  for (const char* counted : {"requests", "days", "kernels", "calls"}) {
    if (unit == counted) return trimmed(short_figure(value)) + " " + unit;
  }
  return unit.empty() ? trimmed(short_figure(value)) : short_figure(value) + " " + unit;
}

std::string text_of(const Number& number) {
  if (number.value) return figure_with_unit(*number.value, number.unit);
  return number.missing.empty() ? "not measured" : number.missing;
}

std::pair<std::string, std::string> interval_ends(const Number& number) {
  std::pair<std::string, std::string> ends;
  if (!number.value) return ends;
  if (number.lo) ends.first = figure_with_unit(*number.lo, number.unit);
  if (number.hi) ends.second = figure_with_unit(*number.hi, number.unit);
  const std::string unit = unit_part(figure_with_unit(*number.value, number.unit));
  if (unit.empty() || !number.lo || !number.hi) return ends;
  if (unit_part(ends.first) != unit || unit_part(ends.second) != unit) return ends;
  for (std::string* end : {&ends.first, &ends.second}) end->resize(end->size() - unit.size());
  return ends;
}

std::string text_with_interval(const Number& number) {
  const std::string text = text_of(number);
  if (!number.value || (!number.lo && !number.hi)) return text;
  const auto [lo, hi] = interval_ends(number);
  return text + " (" + (number.lo ? lo : "no lower bound") + " to " +
         (number.hi ? hi : "no upper bound") + ")";
}

}  // namespace breakeven
