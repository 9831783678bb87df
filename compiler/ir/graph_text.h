#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

/// What the printer and the parser of the graph text share. Not for users of the graph.

/// Shortest text that reads back to the same bits; "nan(0x..)" for a NaN other than the usual one.
std::string print_double_bits(double value);

/// [A-Za-z_][A-Za-z0-9_.]*: what may follow % beside a number.
bool is_label(std::string_view text);
/// A label that resembles `name`.
std::string label_from_name(std::string_view name);

enum class TokenKind : unsigned char { kWord, kNumber, kString, kLabel, kPunctuation, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  ///< As written; a kLabel with its %, a kString with its quotes.
  std::size_t offset = 0;
  bool first_on_line = false;
};

/// One fault at a byte offset of the text.
struct TextFault {
  std::size_t offset = 0;
  std::string message;
  std::string value;
  std::string fix;
};

/// Splits the text into tokens, `#` comments left out. Bytes that start no token become faults.
std::vector<Token> tokenize(std::string_view text, std::vector<TextFault>& faults);

/// The offset of the first byte that is not valid UTF-8, npos when there is none.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace breakeven
