#include <string>

#include "compiler/ir/graph_text.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_word_part(char c) { return is_word_start(c) || is_digit(c) || c == '.'; }

/// Length of the number at the start of `text`: digits, a fraction, an exponent.
std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > start;
  };
  digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    digits();
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t before = at;
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) at = before;
  }
  return at;
}

/// Length of the string at the start of `text`, its quotes included; 0 when the line ends first.
std::size_t string_length(std::string_view text) {
  for (std::size_t at = 1; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return 0;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || at + length > text.size()) return at;
    for (std::size_t i = 1; i < length; ++i) {
      const auto byte = static_cast<unsigned char>(text[at + i]);
      if ((byte & 0xC0) != 0x80) return at;
      const bool overlong =
          i == 1 && ((lead == 0xE0 && byte < 0xA0) || (lead == 0xF0 && byte < 0x90));
      const bool too_large =
          i == 1 && ((lead == 0xED && byte >= 0xA0) || (lead == 0xF4 && byte >= 0x90));
      if (overlong || too_large) return at;
    }
    at += length;
  }
  return std::string_view::npos;
}

std::vector<Token> tokenize(std::string_view text, std::vector<TextFault>& faults) {
  std::vector<Token> tokens;
  bool line_start = true;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n') line_start = true;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++at;
      continue;
    }
    if (c == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
      continue;
    }
    Token token{TokenKind::kPunctuation, {}, at, line_start};
    std::size_t length = 1;
    if (is_word_start(c)) {
      token.kind = TokenKind::kWord;
      while (at + length < text.size() && is_word_part(text[at + length])) ++length;
    } else if (is_digit(c)) {
      token.kind = TokenKind::kNumber;
      length = number_length(text.substr(at));
    } else if (c == '%') {
      token.kind = TokenKind::kLabel;
      while (at + length < text.size() && is_word_part(text[at + length])) ++length;
    } else if (c == '"') {
      token.kind = TokenKind::kString;
      length = string_length(text.substr(at));
      if (length == 0) {
        faults.push_back({at, "the string does not end on its line", "", "Close it with a \"."});
        length = std::min(text.find('\n', at), text.size()) - at;
      }
    } else if (std::string_view("{}[]()=,:+-*/").find(c) == std::string_view::npos) {
      std::size_t end = at + 1;  // A whole UTF-8 character is one fault.
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      faults.push_back(
          {at, "unexpected character", std::string(text.substr(at, end - at)), "Remove it."});
      at = end;
      continue;
    }
    token.text = text.substr(at, length);
    tokens.push_back(token);
    at += length;
    line_start = false;
  }
  tokens.push_back({TokenKind::kEnd, {}, text.size(), true});
  return tokens;
}

}  // namespace breakeven
