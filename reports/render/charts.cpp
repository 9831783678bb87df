#include "reports/render/charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "compiler/support/text.h"
#include "reports/decide/phrases.h"
#include "reports/render/metrics.h"

namespace breakeven {
namespace {

constexpr double kWidth = 640, kHeight = 300, kLeft = 62, kRight = 14, kTop = 28, kBottom = 44;

std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

/// Linear axis from data to pixels.
struct Axis {
  double lo = 0, hi = 1, from = 0, to = 1;
  double operator()(double value) const {
    return from + (std::clamp(value, lo, hi) - lo) / (hi - lo) * (to - from);
  }
};

/// About five round steps over [lo, hi].
std::vector<double> ticks_of(double lo, double hi) {
  const double rough = (hi - lo) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0}) {
    if (step < rough) step = power * factor;
  }
  std::vector<double> ticks;
  for (double tick = std::ceil(lo / step) * step; tick <= hi + step * 1e-9; tick += step) {
    ticks.push_back(std::fabs(tick) < step * 1e-9 ? 0 : tick);
  }
  return ticks;
}

std::string tag_text(double x, double y, const char* anchor, const std::string& text,
                     const char* cls = "tick") {
  return "<text class=\"" + std::string(cls) + "\" x=\"" + coordinate(x) + "\" y=\"" +
         coordinate(y) + "\" text-anchor=\"" + anchor + "\">" + html_text(text) + "</text>";
}

std::string tag_line(double x1, double y1, double x2, double y2, const char* cls) {
  return "<line class=\"" + std::string(cls) + "\" x1=\"" + coordinate(x1) + "\" y1=\"" +
         coordinate(y1) + "\" x2=\"" + coordinate(x2) + "\" y2=\"" + coordinate(y2) + "\"/>";
}

std::string open_svg(double height, const std::string& title, const std::string& description) {
  return "<svg viewBox=\"0 0 " + coordinate(kWidth) + " " + coordinate(height) +
         "\" role=\"img\" aria-label=\"" + html_text(title) + "\"><title>" + html_text(title) +
         "</title><desc>" + html_text(description, 600) + "</desc>";
}

std::string y_axis(const Axis& y, const std::string& unit) {
  std::string out;
  for (const double tick : ticks_of(y.lo, y.hi)) {
    out += tag_line(kLeft, y(tick), kWidth - kRight, y(tick), tick == 0 ? "zero" : "grid");
    out += tag_text(kLeft - 6, y(tick) + 4, "end", figure_with_unit(tick, ""));
  }
  return out + tag_text(6, 14, "start", unit, "unit");
}

std::string path_of(const std::vector<std::pair<double, double>>& points) {
  std::string path;
  for (const auto& [x, y] : points) {
    path += (path.empty() ? "M" : "L") + coordinate(x) + " " + coordinate(y);
  }
  return path;
}

std::string series(std::size_t index, const char* kind) {
  return std::string(kind) + " s" + std::to_string(index % 6);
}

const BreakEvenSummary& costs_of(const ArmSummary& arm, bool kept) {
  return kept ? arm.cache_kept : arm.cache_lost;
}

/// Requests that the chart spans: thrice the latest break-even, or the whole curve when none pays.
double span_of(const Decision& decision, bool kept) {
  double latest = 0, longest = 0;
  for (const ArmSummary& arm : decision.arms) {
    const BreakEvenSummary& costs = costs_of(arm, kept);
    if (costs.requests.value) latest = std::max(latest, *costs.requests.value);
    if (!costs.curve.empty()) longest = std::max(longest, costs.curve.back().requests);
  }
  return latest > 0 ? std::min(std::max(3 * latest, 30.0), std::max(longest, 30.0))
                    : std::min(longest, 10000.0);
}

using Curve = std::vector<BreakEvenSummary::CurvePoint>;

/// The curve up to `span`, its last point interpolated onto it.
Curve curve_within(const Curve& curve, double span) {
  Curve out;
  for (const auto& point : curve) {
    if (point.requests <= span) {
      out.push_back(point);
      continue;
    }
    if (!out.empty()) {
      const auto& last = out.back();
      const double t = (span - last.requests) / (point.requests - last.requests);
      const auto mix = [&](double a, double b) { return a + t * (b - a); };
      out.push_back({span, mix(last.saving_s, point.saving_s), mix(last.lo_s, point.lo_s),
                     mix(last.hi_s, point.hi_s)});
    }
    break;
  }
  return out;
}

}  // namespace

std::string html_text(const std::string& text, std::size_t max_bytes) {
  std::string out;
  for (const char c : printable(text, max_bytes)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string break_even_chart(const Decision& decision, bool kept) {
  const double span = span_of(decision, kept);
  double lo = 0, hi = 0;
  for (const ArmSummary& arm : decision.arms) {
    for (const auto& point : curve_within(costs_of(arm, kept).curve, span)) {
      lo = std::min({lo, point.lo_s, point.saving_s});
      hi = std::max({hi, point.hi_s, point.saving_s});
    }
  }
  if (hi - lo <= 0) return "";
  const double pad = 0.06 * (hi - lo);
  const Axis x{0, span, kLeft, kWidth - kRight};
  const Axis y{lo - pad, hi + pad, kHeight - kBottom, kTop};
  std::string out =
      open_svg(kHeight, "Seconds of service saved after N requests of one process",
               "One line an arm with its 95 % band; below zero compiling has cost more "
               "than it saved, the crossing is the break-even.");
  out += y_axis(y, "seconds saved");
  for (const double tick : ticks_of(0, span)) {
    out += tag_text(x(tick), kHeight - kBottom + 18, "middle", figure_with_unit(tick, ""));
  }
  out += tag_text((kLeft + kWidth) / 2, kHeight - 6, "middle", "requests served by one process",
                  "unit");
  for (std::size_t i = 0; i < decision.arms.size(); ++i) {
    const BreakEvenSummary& costs = costs_of(decision.arms[i], kept);
    std::vector<std::pair<double, double>> line, band, lower;
    for (const auto& point : curve_within(costs.curve, span)) {
      line.emplace_back(x(point.requests), y(point.saving_s));
      band.emplace_back(x(point.requests), y(point.hi_s));
      lower.emplace_back(x(point.requests), y(point.lo_s));
    }
    if (line.empty()) continue;
    band.insert(band.end(), lower.rbegin(), lower.rend());
    out += "<path class=\"" + series(i, "band") + "\" d=\"" + path_of(band) + "Z\"/>";
    out += "<path class=\"" + series(i, "line") + "\" d=\"" + path_of(line) + "\"/>";
    if (costs.requests.value && *costs.requests.value <= span) {
      out +=
          "<circle class=\"" + series(i, "dot") + "\" cx=\"" +
          coordinate(x(*costs.requests.value)) + "\" cy=\"" + coordinate(y(0)) +
          "\" r=\"5\"><title>" +
          html_text(decision.arms[i].arm + ": break-even " + text_with_interval(costs.requests)) +
          "</title></circle>";
    }
  }
  return out + "</svg>";
}

std::string latency_chart(const Decision& decision, double slo_ms) {
  double top = 0, last = 0;
  for (const ArmSummary& arm : decision.arms) {
    if (arm.latency_quantiles.empty()) continue;
    top = std::max(top, arm.latency_quantiles.back().second);
    last = std::max(last, arm.latency_quantiles.back().first);
  }
  if (top <= 0) return "";
  if (slo_ms > 0 && slo_ms < 3 * top) top = std::max(top, slo_ms);
  const auto stretched = [](double q) { return -std::log10(1 - q); };
  const Axis x{0, std::max(stretched(last), 1.0), kLeft, kWidth - kRight};
  const Axis y{0, 1.06 * top, kHeight - kBottom, kTop};
  std::string out = open_svg(kHeight, "Latency by percentile, after warm-up",
                             "Latency from the intended arrival over the percentile, the tail "
                             "stretched; one line an arm, the target dashed.");
  out += y_axis(y, "ms");
  constexpr std::array<double, 5> kTicks = {0.5, 0.9, 0.95, 0.99, 0.999};
  for (const double tick : kTicks) {
    if (tick > last + 1e-9) continue;
    out += tag_line(x(stretched(tick)), kTop, x(stretched(tick)), kHeight - kBottom, "grid");
    out += tag_text(x(stretched(tick)), kHeight - kBottom + 18, "middle",
                    "p" + figure_with_unit(100 * tick, ""));
  }
  out += tag_text((kLeft + kWidth) / 2, kHeight - 6, "middle", "percentile of requests", "unit");
  if (slo_ms > 0 && slo_ms <= y.hi) {
    out += tag_line(kLeft, y(slo_ms), kWidth - kRight, y(slo_ms), "slo");
    out += tag_text(kLeft + 6, y(slo_ms) - 5, "start", "target " + figure_with_unit(slo_ms, "ms"),
                    "unit");
  }
  for (std::size_t i = 0; i < decision.arms.size(); ++i) {
    std::vector<std::pair<double, double>> line;
    for (const auto& [q, ms] : decision.arms[i].latency_quantiles) {
      line.emplace_back(x(stretched(q)), y(ms));
    }
    if (!line.empty()) {
      out += "<path class=\"" + series(i, "line") + "\" d=\"" + path_of(line) + "\"/>";
    }
  }
  return out + "</svg>";
}

namespace {

/// A labelled stacked bar.
struct Bar {
  std::string label;
  std::vector<std::pair<std::size_t, double>> parts;  ///< (colour, size), in drawing order.
  std::vector<std::string> titles;                    ///< Of the parts.
  std::string total;
};

std::string stacked_bars(const std::vector<Bar>& bars, const std::string& title,
                         const std::string& description) {
  constexpr double kRow = 46, kBarHeight = 18;
  double longest = 0;
  for (const Bar& bar : bars) {
    double sum = 0;
    for (const auto& [colour, size] : bar.parts) sum += std::max(size, 0.0);
    longest = std::max(longest, sum);
  }
  if (longest <= 0) return "";
  std::string out = open_svg(kRow * static_cast<double>(bars.size()) + 4, title, description);
  double top = 2;
  for (const Bar& bar : bars) {
    out += tag_text(2, top + 14, "start", bar.label, "label");
    out += tag_text(kWidth - 2, top + 14, "end", bar.total, "tick");
    double at = 0;
    for (std::size_t i = 0; i < bar.parts.size(); ++i) {
      const auto& [colour, size] = bar.parts[i];
      if (size <= 0) continue;
      const double width = size / longest * kWidth;
      out += "<rect class=\"part p" + std::to_string(colour % 10) + "\" x=\"" + coordinate(at) +
             "\" y=\"" + coordinate(top + 20) + "\" width=\"" + coordinate(width) + "\" height=\"" +
             coordinate(kBarHeight) + "\"><title>" + html_text(bar.titles[i]) + "</title></rect>";
      at += width;
    }
    top += kRow;
  }
  return out + "</svg>";
}

std::string legend_of(const std::vector<std::string>& names) {
  std::string out = "<ul class=\"legend\">";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    out += "<li><i class=\"p" + std::to_string(i % 10) + "\"></i>" + html_text(names[i]) + "</li>";
  }
  return out + "</ul>";
}

}  // namespace

std::string split_chart(const Decision& decision) {
  std::vector<Bar> bars;
  std::vector<std::string> names;
  for (const ArmSummary& arm : decision.arms) {
    Bar bar{.label = arm.arm, .total = std::to_string(arm.p99_split_requests) + " slow requests"};
    names.resize(std::max(names.size(), arm.p99_split.size()));
    for (std::size_t i = 0; i < arm.p99_split.size(); ++i) {
      const double share = arm.p99_split[i].share.value.value_or(0);
      bar.parts.emplace_back(i, share);
      bar.titles.push_back(std::string(label_of_split(arm.p99_split[i].part)) + ": " +
                           figure_with_unit(share, "share"));
      if (share > 0) names[i] = label_of_split(arm.p99_split[i].part);
    }
    bars.push_back(bar);
  }
  const std::string chart =
      stacked_bars(bars, "Where the slowest 1 % of requests spend their time",
                   "One bar an arm; the parts add up to the whole latency of its slow requests.");
  return chart.empty() ? "" : chart + legend_of(names);
}

std::string start_chart(const Decision& decision) {
  std::vector<Bar> bars;
  std::vector<std::string> names;
  for (const ArmSummary& arm : decision.arms) {
    for (const bool cold : {true, false}) {
      const std::vector<StageTime>& stages = cold ? arm.cold_stages : arm.warm_stages;
      if (stages.empty()) continue;
      Bar bar{.label = arm.arm + (cold ? ", cold start" : ", warm start")};
      double total = 0;
      for (const StageTime& stage : stages) {
        const double ms = static_cast<double>(stage.ns) * 1e-6;
        const auto found = std::find(names.begin(), names.end(), stage.name);
        const auto colour = static_cast<std::size_t>(found - names.begin());
        if (found == names.end()) names.push_back(stage.name);
        bar.parts.emplace_back(colour, ms);
        bar.titles.push_back(stage.name + ": " + figure_with_unit(ms, "ms"));
        total += ms;
      }
      bar.total = figure_with_unit(total, "ms");
      bars.push_back(bar);
    }
  }
  const std::string chart =
      stacked_bars(bars, "Start of a process until its first result, by stage",
                   "Cold and warm start of each arm, in the median process.");
  return chart.empty() ? "" : chart + legend_of(names);
}

}  // namespace breakeven
