#include "compiler/support/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>

namespace breakeven {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// A code point decoded from UTF-8 with its length; length 0 when the bytes are invalid.
struct Decoded {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

Decoded decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 0;
  if (length == 0 || byte(0) > 0xf4 || text.size() < length) return {};
  std::uint32_t code = byte(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[length] || code > 0x10ffff || surrogate) return {};
  return {code, length};
}

bool is_hidden(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const bool bidirectional = code == 0x061c || (code >= 0x200e && code <= 0x200f) ||
                             (code >= 0x202a && code <= 0x202e) ||
                             (code >= 0x2066 && code <= 0x2069);
  return control || bidirectional || code == 0x2028 || code == 0x2029 || code == 0xfeff;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string nearest_word(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kLongest = 200;  // The distance is quadratic, and the word may be hostile.
  if (word.size() > kLongest) return {};
  std::string best;
  std::size_t best_distance = SIZE_MAX;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    const std::size_t allowed =
        std::max<std::size_t>(2, std::max(word.size(), candidate.size()) / 3);
    if (distance <= allowed && distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= max_bytes) return out + "…";
    const Decoded decoded = decode_utf8(text);
    char escaped[16];
    if (decoded.length == 0) {
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(text[0]));
      out += escaped;
      text.remove_prefix(1);
      continue;
    }
    if (is_hidden(decoded.code)) {
      std::snprintf(escaped, sizeof escaped, decoded.code < 0x80 ? "\\x%02x" : "\\u{%04x}",
                    decoded.code);
      out += escaped;
    } else {
      out += text.substr(0, decoded.length);
    }
    text.remove_prefix(decoded.length);
  }
  return out;
}

std::string format_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc() ? std::string(text, end) : std::string("nan");
}

std::string format_duration_ns(double nanoseconds) {
  struct Unit {
    double scale;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}};
  if (!std::isfinite(nanoseconds)) return format_double(nanoseconds);
  const double size = std::fabs(nanoseconds);
  if (size >= 120e9) {
    char text[48];
    std::snprintf(text, sizeof text, "%.0f min %.0f s", std::floor(nanoseconds / 60e9),
                  std::fmod(nanoseconds, 60e9) / 1e9);
    return text;
  }
  for (const Unit& unit : kUnits) {
    // 0.9995 rounds up to the next unit's 1.00 with three digits.
    if (size < unit.scale * 0.9995 && unit.scale > 1) continue;
    const double scaled = nanoseconds / unit.scale;
    const double shown = std::fabs(scaled);
    const int digits = shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
    char text[48];
    std::snprintf(text, sizeof text, "%.*f %s", digits, scaled, unit.name);
    return text;
  }
  return "0 ns";
}

}  // namespace breakeven
