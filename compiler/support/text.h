#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);

/// The candidate with the smallest edit distance to `word`, or "" when none is close enough to be
/// what was meant (distance above a third of the longer word, and above 2).
std::string nearest_word(std::string_view word, std::span<const std::string> candidates);

/// Control characters, invalid UTF-8 and bidirectional overrides become \xNN / \u{NNNN}; cut to
/// `max_bytes` with an ellipsis. For anything foreign that is printed to a terminal or a log.
std::string printable(std::string_view text, std::size_t max_bytes = 200);

/// Shortest decimal text that reads back to the same double ("0.1", "1e-12"); inf/-inf/nan as such.
std::string format_double(double value);

/// "870 µs", "12.9 ms", "1.34 s": three significant digits with a unit fit for people.
std::string format_duration_ns(double nanoseconds);

}  // namespace breakeven
