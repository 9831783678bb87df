#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph_text.h"

namespace breakeven {

/// Ends the statement being read; its fault is already recorded.
struct StatementFault {};

/// The text of a quoted token.
std::string unquote(std::string_view quoted);

/// The floating number that `text` is as a whole; integers without point or exponent count too.
bool read_float(std::string_view text, float& value);
bool read_float(std::string_view text, double& value);

/// True for what is written as a floating number: a point, an exponent, inf or nan.
bool looks_floating(std::string_view text);

/// Walks the tokens of a graph's text and gathers its faults.
class TextReader {
 public:
  static constexpr std::size_t kMaxFaults = 100;

  TextReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  /// Splits the text into tokens. Throws at once when it is too large or no UTF-8.
  void start();

  void record(std::size_t offset, std::string message, std::string value, std::string fix);
  /// Records a fault and ends the statement.
  [[noreturn]] void fail(std::size_t offset, std::string message, std::string value,
                         std::string fix);
  [[noreturn]] void fail_expected(const std::string& what);
  std::size_t fault_count() const { return faults_.size(); }
  /// Throws every recorded fault as one UserError.
  [[noreturn]] void raise();

  std::size_t position() const { return at_; }
  const Token& peek() const { return tokens_[at_]; }
  const Token& take();
  bool is_next(std::string_view text) const;
  bool accept(std::string_view text);
  void expect(std::string_view text);
  std::string expect_string(const std::string& what);
  /// The text up to the next , ) ] or } outside parentheses, consumed.
  std::string_view take_expression();
  /// Skips to the next line that can start a statement.
  void synchronise();

 private:
  std::string_view text_;
  std::string_view file_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::vector<TextFault> faults_;
};

}  // namespace breakeven
