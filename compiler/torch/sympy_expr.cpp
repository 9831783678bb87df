#include "compiler/torch/sympy_expr.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "compiler/support/text.h"

namespace breakeven {
namespace {

constexpr int kMaxDepth = 200;
constexpr std::int64_t kMaxConstant = std::int64_t{1} << 40;

/// SymPy writes s0/2 + s1/2 with rational factors; the whole is an integer, its parts need not be.
struct Ratio {
  Sym numerator;
  std::int64_t denominator = 1;
};

struct ParseError {
  std::string reason;
};

class SympyParser {
 public:
  SympyParser(SymContext& syms, std::string_view text, const SymbolLookup& lookup)
      : syms_(syms), text_(text), lookup_(lookup) {}

  Sym parse() {
    const Ratio value = parse_sum();
    skip_spaces();
    if (at_ != text_.size()) fail("unexpected text");
    return floor(value);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ParseError{what + " at byte " + std::to_string(at_) + " of '" + printable(text_, 120) +
                     "'"};
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool accept(std::string_view token) {
    skip_spaces();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "'");
  }

  Sym floor(const Ratio& value) {
    if (value.denominator == 1) return value.numerator;
    return syms_.floor_div(value.numerator, syms_.constant(value.denominator));
  }

  Sym integer(const Ratio& value) {
    if (value.denominator != 1) fail("a fraction where an integer is needed");
    return value.numerator;
  }

  std::int64_t checked_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || std::abs(product) > kMaxConstant) {
      fail("a constant too large");
    }
    return product;
  }

  Ratio scaled(const Ratio& value, std::int64_t factor) {
    return {syms_.mul(value.numerator, syms_.constant(factor)), value.denominator};
  }

  Ratio add(const Ratio& a, const Ratio& b) {
    if (a.denominator == b.denominator) return {syms_.add(a.numerator, b.numerator), a.denominator};
    return {syms_.add(scaled(a, b.denominator).numerator, scaled(b, a.denominator).numerator),
            checked_product(a.denominator, b.denominator)};
  }

  Ratio mul(const Ratio& a, const Ratio& b) {
    Ratio product{syms_.mul(a.numerator, b.numerator),
                  checked_product(a.denominator, b.denominator)};
    const auto constant = syms_.as_constant(product.numerator);
    if (constant && product.denominator != 1 && *constant % product.denominator == 0) {
      return {syms_.constant(*constant / product.denominator), 1};
    }
    return product;
  }

  Ratio negate(const Ratio& a) { return scaled(a, -1); }

  Ratio reciprocal(const Ratio& a) {
    const auto constant = syms_.as_constant(a.numerator);
    if (!constant || *constant == 0) fail("a division by something that is no constant");
    const std::int64_t sign = *constant < 0 ? -1 : 1;
    return {syms_.constant(sign * a.denominator), sign * *constant};
  }

  Ratio floor_div(const Ratio& a, const Ratio& b) {
    const Sym divisor = scaled(b, a.denominator).numerator;
    if (syms_.is_constant(divisor, 0)) fail("a division by zero");
    return {syms_.floor_div(scaled(a, b.denominator).numerator, divisor)};
  }

  Ratio mod(const Ratio& a, const Ratio& b) {
    const Sym divisor = integer(b);
    if (syms_.is_constant(divisor, 0)) fail("a division by zero");
    return {syms_.mod(integer(a), divisor)};
  }

  Ratio power(const Ratio& base, const Ratio& exponent) {
    const auto times = syms_.as_constant(integer(exponent));
    if (!times || *times < -1 || *times > 8) fail("a power that is no small constant");
    if (*times == -1) return reciprocal(base);
    Ratio result{syms_.constant(1)};
    for (std::int64_t i = 0; i < *times; ++i) result = mul(result, base);
    return result;
  }

  Ratio parse_sum() {
    if (++depth_ > kMaxDepth) fail("an expression nested too deeply");
    Ratio sum = parse_product();
    while (true) {
      if (accept("+")) {
        sum = add(sum, parse_product());
      } else if (accept("-")) {
        sum = add(sum, negate(parse_product()));
      } else {
        --depth_;
        return sum;
      }
    }
  }

  Ratio parse_product() {
    Ratio product = parse_unary();
    while (true) {
      if (accept("//")) {
        product = floor_div(product, parse_unary());
      } else if (accept("/")) {
        product = mul(product, reciprocal(parse_unary()));
      } else if (accept("%")) {
        product = mod(product, parse_unary());
      } else if (text_.substr(at_, 2) != "**" && accept("*")) {
        product = mul(product, parse_unary());
      } else {
        return product;
      }
    }
  }

  Ratio parse_unary() {
    if (accept("-")) {
      if (++depth_ > kMaxDepth) fail("an expression nested too deeply");
      const Ratio value = negate(parse_unary());
      --depth_;
      return value;
    }
    Ratio base = parse_atom();
    if (accept("**")) return power(base, parse_atom());
    return base;
  }

  Ratio parse_atom() {
    skip_spaces();
    if (accept("(")) {
      const Ratio value = parse_sum();
      expect(")");
      return value;
    }
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') return parse_number();
    const std::string name = parse_name();
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '(') return parse_call(name);
    return {symbol(name)};
  }

  Ratio parse_number() {
    std::int64_t value = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc() || value > kMaxConstant) fail("a constant too large");
    at_ += static_cast<std::size_t>(end - first);
    return {syms_.constant(value)};
  }

  std::string parse_name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    if (at_ == begin) fail("expected a number, a symbol or a function");
    return std::string(text_.substr(begin, at_ - begin));
  }

  Sym symbol(const std::string& name) {
    const auto found = lookup_(name);
    if (!found) fail("unknown symbol '" + printable(name, 40) + "'");
    return *found;
  }

  /// Symbol('s0', positive=True, integer=True): the assumptions are the range's business.
  Sym parse_symbol_call() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("expected a quoted symbol");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("an unclosed symbol");
    const std::string name(text_.substr(at_ + 1, end - at_ - 1));
    const std::size_t close = text_.find(')', end);
    if (close == std::string_view::npos) fail("expected ')'");
    at_ = close + 1;
    return symbol(name);
  }

  Ratio parse_call(const std::string& name) {
    expect("(");
    if (name == "Symbol") return {parse_symbol_call()};
    std::vector<Ratio> args;
    if (!accept(")")) {
      do {
        args.push_back(parse_sum());
      } while (accept(","));
      expect(")");
    }
    return apply(name, args);
  }

  Ratio apply(const std::string& name, const std::vector<Ratio>& args) {
    if (args.empty()) fail("function '" + printable(name, 40) + "' without arguments");
    using Fold = Ratio (SympyParser::*)(const Ratio&, const Ratio&);
    const auto fold = [&](Fold combine) {
      Ratio result = args[0];
      for (std::size_t i = 1; i < args.size(); ++i) result = (this->*combine)(result, args[i]);
      return result;
    };
    if (name == "Add") return fold(&SympyParser::add);
    if (name == "Mul") return fold(&SympyParser::mul);
    if (name == "Max") return fold(&SympyParser::max);
    if (name == "Min") return fold(&SympyParser::min);
    if (args.size() == 1 && name == "Integer") return args[0];
    if (args.size() == 2) {
      if (name == "Pow" || name == "PowByNatural") return power(args[0], args[1]);
      if (name == "Rational") return mul(args[0], reciprocal(args[1]));
      if (name == "FloorDiv" || name == "CleanDiv") return floor_div(args[0], args[1]);
      if (name == "Mod" || name == "PythonMod") return mod(args[0], args[1]);
      if (name == "CeilDiv") {  // -(-a // b)
        return negate(floor_div(negate(args[0]), args[1]));
      }
    }
    if (args.size() == 3 && name == "ModularIndexing") {
      return mod(floor_div(args[0], args[1]), args[2]);
    }
    fail("unknown function '" + printable(name, 40) + "'");
  }

  Ratio max(const Ratio& a, const Ratio& b) { return {syms_.max(integer(a), integer(b))}; }
  Ratio min(const Ratio& a, const Ratio& b) { return {syms_.min(integer(a), integer(b))}; }

  SymContext& syms_;
  std::string_view text_;
  const SymbolLookup& lookup_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Sym> parse_sympy(SymContext& syms, std::string_view text, const SymbolLookup& lookup) {
  try {
    return SympyParser(syms, text, lookup).parse();
  } catch (const ParseError& error) {
    return Refusal{"unreadable_expression", error.reason};
  }
}

std::optional<std::string> lone_symbol(std::string_view text) {
  constexpr std::string_view kCall = "Symbol('";
  if (text.starts_with(kCall) && text.find(')') == text.size() - 1) {
    const std::size_t end = text.find('\'', kCall.size());
    if (end == std::string_view::npos) return std::nullopt;
    text = text.substr(kCall.size(), end - kCall.size());
  }
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return std::nullopt;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return std::nullopt;
  }
  return std::string(text);
}

}  // namespace breakeven
