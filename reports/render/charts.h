#pragma once

#include <string>

#include "reports/decide/decision.h"

namespace breakeven {

/// Text made safe inside HTML and SVG: hidden characters shown as escapes, cut to `max_bytes`, then
/// & < > " ' escaped.
std::string html_text(const std::string& text, std::size_t max_bytes = 200);

// Charts as inline SVG (one <svg role="img"> with title and description each) or, where there is
// nothing to draw, "". Colours come from the page's classes s0, s1, ... so that both themes fit.

/// S(N) of every compiled arm with its 95 % band; `kept` picks the kind of restart.
std::string break_even_chart(const Decision& decision, bool kept);
/// Latency over percentile, tail stretched, one line an arm; the target as a dashed line.
std::string latency_chart(const Decision& decision, double slo_ms);
/// One stacked bar an arm: where slow requests spend their time.
std::string split_chart(const Decision& decision);
/// Two stacked bars an arm: stages of a cold and of a warm start.
std::string start_chart(const Decision& decision);

}  // namespace breakeven
