#include "compiler/ir/graph_reader.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "compiler/support/error.h"

namespace breakeven {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

/// The floating number that `text` is as a whole; integers without point or exponent count too.
template <typename Float>
bool read_number(std::string_view text, Float& value) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text == "inf") {
    value = HUGE_VAL;
  } else if (text == "nan") {
    value = std::bit_cast<Float>(
        static_cast<std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>>(
            sizeof(Float) == 4 ? 0x7FC00000ULL : 0x7FF8000000000000ULL));
    return !negative;
  } else if (text.starts_with("nan(0x") && text.ends_with(")")) {
    std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t> bits = 0;
    const char* end = text.data() + text.size() - 1;
    const auto read = std::from_chars(text.data() + 6, end, bits, 16);
    value = std::bit_cast<Float>(bits);
    return !negative && read.ec == std::errc() && read.ptr == end && std::isnan(value);
  } else {
    if (text.empty() || text[0] < '0' || text[0] > '9') return false;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ptr != text.data() + text.size()) return false;
    // Out of range leaves the value alone; the sign of the exponent says which end it left by.
    if (read.ec == std::errc::result_out_of_range) {
      const std::size_t e = text.find_first_of("eE");
      const bool tiny = e != std::string_view::npos && text.substr(e + 1).starts_with('-');
      value = tiny ? Float{0} : static_cast<Float>(HUGE_VAL);
    } else if (read.ec != std::errc()) {
      return false;
    }
  }
  if (negative) value = -value;
  return true;
}

}  // namespace

std::string unquote(std::string_view quoted) {
  std::string out;
  const std::string_view text = quoted.substr(1, quoted.size() < 2 ? 0 : quoted.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == 'x' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool read_float(std::string_view text, float& value) { return read_number(text, value); }

bool read_float(std::string_view text, double& value) { return read_number(text, value); }

bool looks_floating(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text == "inf" || text == "nan" || text.starts_with("nan(")) return true;
  return !text.empty() && text[0] >= '0' && text[0] <= '9' &&
         text.find_first_not_of("0123456789.eE+-") == std::string_view::npos &&
         text.find_first_of(".eE") != std::string_view::npos;
}

void TextReader::start() {
  if (text_.size() > kMaxBytes) {
    record(0, "the file is larger than 64 MiB", std::to_string(text_.size()) + " bytes",
           "Bind large weights from an archive instead of writing them as text.");
    raise();
  }
  const std::size_t invalid = find_invalid_utf8(text_);
  if (invalid != std::string_view::npos) {
    record(invalid, "the file is not valid UTF-8", std::string(text_.substr(invalid, 1)),
           "Save it as UTF-8 text.");
    raise();
  }
  tokens_ = tokenize(text_, faults_);
}

void TextReader::record(std::size_t offset, std::string message, std::string value,
                        std::string fix) {
  faults_.push_back({offset, std::move(message), std::move(value), std::move(fix)});
}

void TextReader::fail(std::size_t offset, std::string message, std::string value, std::string fix) {
  record(offset, std::move(message), std::move(value), std::move(fix));
  throw StatementFault{};
}

void TextReader::fail_expected(const std::string& what) {
  const Token& token = peek();
  const std::string got = token.kind == TokenKind::kEnd ? "end of file" : std::string(token.text);
  fail(token.offset, "expected " + what, got, "Write " + what + " here.");
}

void TextReader::raise() {
  std::stable_sort(faults_.begin(), faults_.end(),
                   [](const TextFault& a, const TextFault& b) { return a.offset < b.offset; });
  std::vector<Diagnostic> diagnostics;
  int line = 1;
  std::size_t line_start = 0;
  std::size_t at = 0;
  for (TextFault& fault : faults_) {
    for (; at < fault.offset && at < text_.size(); ++at) {
      if (text_[at] != '\n') continue;
      ++line;
      line_start = at + 1;
    }
    if (diagnostics.size() == kMaxFaults) {
      diagnostics.push_back({std::string(file_), line, 0, "more than 100 faults", "",
                             "Repair those above first; the rest is not listed."});
      break;
    }
    diagnostics.push_back({std::string(file_), line,
                           static_cast<int>(fault.offset - line_start) + 1,
                           std::move(fault.message), std::move(fault.value), std::move(fault.fix)});
  }
  throw UserError(std::move(diagnostics));
}

const Token& TextReader::take() {
  const Token& token = tokens_[at_];
  if (token.kind != TokenKind::kEnd) ++at_;
  return token;
}

bool TextReader::is_next(std::string_view text) const {
  return peek().kind != TokenKind::kString && peek().text == text && !text.empty();
}

bool TextReader::accept(std::string_view text) {
  if (!is_next(text)) return false;
  take();
  return true;
}

void TextReader::expect(std::string_view text) {
  if (!accept(text)) fail_expected("'" + std::string(text) + "'");
}

std::string TextReader::expect_string(const std::string& what) {
  if (peek().kind != TokenKind::kString) fail_expected(what);
  return unquote(take().text);
}

std::string_view TextReader::take_expression() {
  const std::size_t begin = peek().offset;
  std::size_t end = begin;
  int depth = 0;
  for (;;) {
    const Token& token = peek();
    if (token.kind == TokenKind::kEnd || token.kind == TokenKind::kLabel) break;
    if (token.kind == TokenKind::kPunctuation) {
      const char c = token.text[0];
      if (depth == 0 && (c == ',' || c == ')')) break;
      if (c == ']' || c == '}' || c == '{' || c == '=' || c == '[') break;
      if (c == '(') ++depth;
      if (c == ')') --depth;
    }
    end = token.offset + token.text.size();
    take();
  }
  return text_.substr(begin, end - begin);
}

void TextReader::synchronise() {
  while (peek().kind != TokenKind::kEnd) {
    const Token& token = peek();
    if (token.first_on_line &&
        (token.kind == TokenKind::kLabel || is_next("sym") || is_next("return") || is_next("}"))) {
      return;
    }
    take();
  }
}

}  // namespace breakeven
