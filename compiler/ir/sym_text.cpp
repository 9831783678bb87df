#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <string>

#include "compiler/ir/sym.h"
#include "compiler/ir/sym_arith.h"
#include "compiler/support/check.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

constexpr std::size_t kMaxExpressionBytes = 4096;
constexpr int kMaxDepth = 64;

void collect_symbols(const SymContext& context, Sym a, std::set<int>& found) {
  if (const std::optional<int> index = context.symbol_index(a)) {
    found.insert(*index);
  } else if (!context.as_constant(a)) {
    const auto [x, y] = context.operands(a);
    collect_symbols(context, x, found);
    collect_symbols(context, y, found);
  }
}

std::string print(const SymContext& context, Sym a);

/// Operand of `*` and `//`: everything but atoms and calls goes into parentheses.
std::string print_factor(const SymContext& context, Sym a) {
  const SymKind kind = context.kind(a);
  const bool compound =
      kind == SymKind::kAdd || kind == SymKind::kMul || kind == SymKind::kFloorDiv;
  return compound ? "(" + print(context, a) + ")" : print(context, a);
}

std::string print_product(const SymContext& context, Sym a) {
  if (context.kind(a) != SymKind::kMul) return print_factor(context, a);
  const auto [x, y] = context.operands(a);
  return print_product(context, x) + "*" + print_factor(context, y);
}

/// Writes one term of a sum; a negative coefficient becomes the sign.
void print_term(const SymContext& context, Sym term, std::string& out) {
  bool negative = false;
  std::string text;
  if (const auto value = context.as_constant(term)) {
    negative = *value < 0;
    text = std::to_string(*value);
    if (negative) text.erase(0, 1);
  } else {
    text = context.kind(term) == SymKind::kFloorDiv ? print(context, term)
                                                    : print_product(context, term);
    if (context.kind(term) == SymKind::kMul) {
      const auto [x, y] = context.operands(term);
      const auto scale = context.as_constant(y);
      if (scale && *scale < 0) {
        negative = true;
        text = print_product(context, x);
        if (*scale != -1) text += "*" + std::to_string(*scale).substr(1);
      }
    }
  }
  if (out.empty()) {
    out = negative ? "-" + text : text;
  } else {
    out += (negative ? " - " : " + ") + text;
  }
}

std::string print(const SymContext& context, Sym a) {
  switch (context.kind(a)) {
    case SymKind::kConst:
      return std::to_string(*context.as_constant(a));
    case SymKind::kSymbol:
      return context.symbols()[static_cast<std::size_t>(*context.symbol_index(a))].name;
    case SymKind::kAdd: {
      std::vector<Sym> terms;
      Sym rest = a;
      while (context.kind(rest) == SymKind::kAdd) {
        terms.push_back(context.operands(rest).second);
        rest = context.operands(rest).first;
      }
      terms.push_back(rest);
      std::string out;
      for (std::size_t i = terms.size(); i-- > 0;) print_term(context, terms[i], out);
      return out;
    }
    case SymKind::kMul: {
      std::string out;
      print_term(context, a, out);
      return out;
    }
    default:
      break;
  }
  const auto [x, y] = context.operands(a);
  switch (context.kind(a)) {
    case SymKind::kFloorDiv:
      return print_factor(context, x) + "//" + print_factor(context, y);
    case SymKind::kMod:
      return "mod(" + print(context, x) + ", " + print(context, y) + ")";
    case SymKind::kMin:
      return "min(" + print(context, x) + ", " + print(context, y) + ")";
    default:
      return "max(" + print(context, x) + ", " + print(context, y) + ")";
  }
}

}  // namespace

/// Recursive descent over + - * // and min, max, mod; depth and length are bounded.
class SymParser {
 public:
  SymParser(SymContext& context, std::string_view text) : context_(context), text_(text) {}

  Result<Sym> run() {
    if (text_.size() > kMaxExpressionBytes) {
      return Refusal{"bad_size_expression", "the expression is longer than 4096 bytes"};
    }
    const Sym result = sum(0);
    skip_space();
    if (fault_.empty() && at_ < text_.size()) fail("unexpected text");
    if (!fault_.empty()) return Refusal{"bad_size_expression", fault_};
    return result;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool accept(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  Sym fail(const std::string& message) {
    if (fault_.empty()) {
      fault_ = message + " at '" + printable(text_.substr(std::min(at_, text_.size())), 40) + "'";
    }
    return context_.constant(0);
  }

  Sym sum(int depth) {
    Sym left = product(depth);
    while (fault_.empty()) {
      if (accept("+")) {
        left = context_.add(left, product(depth));
      } else if (accept("-")) {
        left = take_min_magnitude() ? context_.add(left, context_.constant(INT64_MIN))
                                    : context_.sub(left, product(depth));
      } else {
        break;
      }
    }
    return left;
  }

  /// Behind a minus sign: the magnitude of INT64_MIN, which alone is no integer.
  bool take_min_magnitude() {
    constexpr std::string_view kMagnitude = "9223372036854775808";
    skip_space();
    const std::size_t end = at_ + kMagnitude.size();
    if (text_.substr(at_, kMagnitude.size()) != kMagnitude) return false;
    if (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end])) != 0) {
      return false;
    }
    at_ = end;
    return true;
  }

  Sym product(int depth) {
    Sym left = factor(depth);
    while (fault_.empty()) {
      if (accept("*")) {
        left = context_.mul(left, factor(depth));
      } else if (accept("//")) {
        const Sym divisor = factor(depth);
        if (context_.is_constant(divisor, 0)) return fail("division by zero");
        left = context_.floor_div(left, divisor);
      } else {
        break;
      }
    }
    return left;
  }

  Sym factor(int depth) {
    skip_space();
    if (depth > kMaxDepth) return fail("the expression is nested deeper than 64");
    if (accept("-")) {
      if (take_min_magnitude()) return context_.constant(INT64_MIN);
      return context_.mul(factor(depth + 1), context_.constant(-1));
    }
    if (accept("(")) {
      const Sym inner = sum(depth + 1);
      return accept(")") ? inner : fail("expected ')'");
    }
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      return number();
    }
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    const std::string_view word = text_.substr(start, at_ - start);
    if (word.empty()) return fail("expected a number, a symbol or '('");
    if (word == "min" || word == "max" || word == "mod") return call(word, depth);
    if (const std::optional<Sym> symbol = context_.find_symbol(word)) return *symbol;
    at_ = start;
    return fail("unknown symbol");
  }

  Sym number() {
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return fail("the integer needs more than 64 bits");
    at_ += static_cast<std::size_t>(end - begin);
    return context_.constant(value);
  }

  Sym call(std::string_view word, int depth) {
    if (!accept("(")) return fail("expected '('");
    const Sym x = sum(depth + 1);
    if (!accept(",")) return fail("expected ','");
    const Sym y = sum(depth + 1);
    if (!accept(")")) return fail("expected ')'");
    if (word == "min") return context_.min(x, y);
    if (word == "max") return context_.max(x, y);
    if (context_.is_constant(y, 0)) return fail("modulo by zero");
    return context_.mod(x, y);
  }

  SymContext& context_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::string fault_;
};

std::string SymContext::to_string(Sym a) const {
  BE_CHECK(is_valid(a), "symbolic integer of another context");
  return print(*this, a);
}

Result<Sym> SymContext::parse(std::string_view text) { return SymParser(*this, text).run(); }

std::vector<int> SymContext::symbols_in(Sym a) const {
  std::set<int> found;
  collect_symbols(*this, a, found);
  return {found.begin(), found.end()};
}

Sym SymContext::import(const SymContext& from, Sym a, std::span<const Sym> replacement) {
  if (const auto value = from.as_constant(a)) return constant(*value);
  if (const auto index = from.symbol_index(a)) {
    BE_CHECK(static_cast<std::size_t>(*index) < replacement.size(),
             "no replacement for symbol " << from.symbols()[static_cast<std::size_t>(*index)].name);
    return replacement[static_cast<std::size_t>(*index)];
  }
  const auto [p, q] = from.operands(a);
  const Sym x = import(from, p, replacement);
  const Sym y = import(from, q, replacement);
  switch (from.kind(a)) {
    case SymKind::kAdd:
      return add(x, y);
    case SymKind::kMul:
      return mul(x, y);
    case SymKind::kFloorDiv:
      return floor_div(x, y);
    case SymKind::kMod:
      return mod(x, y);
    case SymKind::kMin:
      return min(x, y);
    default:
      return max(x, y);
  }
}

}  // namespace breakeven
