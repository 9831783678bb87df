#include "compiler/ir/sym.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

#include "compiler/ir/dtype.h"
#include "compiler/ir/sym_arith.h"
#include "compiler/support/check.h"

namespace breakeven {

struct SymContext::Linear {
  std::vector<std::pair<Sym, std::int64_t>> terms;  // In structural order, no zero coefficient.
  std::int64_t constant = 0;
};

SymContext::SymContext() { constant(0); }

Sym SymContext::constant(std::int64_t value) { return intern(SymKind::kConst, value, {}, {}); }

bool SymContext::is_valid_symbol_name(std::string_view name) {
  if (name.empty() || name.size() > 256) return false;
  if (std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  for (const std::string_view word : {"min", "max", "mod", "inf", "nan", "none", "true", "false"}) {
    if (name == word) return false;
  }
  return !parse_dtype(name).has_value();
}

Sym SymContext::symbol(std::string name, SymRange range, std::int64_t hint) {
  BE_CHECK(is_valid_symbol_name(name), "symbol name '" << name << "'");
  BE_CHECK(!find_symbol(name).has_value(), "symbol '" << name << "' declared twice");
  symbols_.push_back({name, range, hint});
  const Sym result =
      intern(SymKind::kSymbol, static_cast<std::int64_t>(symbols_.size()) - 1, {}, {});
  symbols_by_name_.emplace(std::move(name), result);
  return result;
}

std::optional<Sym> SymContext::find_symbol(std::string_view name) const {
  const auto place = symbols_by_name_.find(std::string(name));
  if (place == symbols_by_name_.end()) return std::nullopt;
  return place->second;
}

Sym SymContext::intern(SymKind kind, std::int64_t value, Sym a, Sym b) {
  const std::int64_t fields[4] = {static_cast<std::int64_t>(kind), value, a.id, b.id};
  std::string key(reinterpret_cast<const char*>(fields), sizeof(fields));
  const auto [place, inserted] =
      interned_.try_emplace(std::move(key), static_cast<std::int32_t>(nodes_.size()));
  if (inserted) {
    Node node{kind, value, a, b, {}};
    node.range = range_of(node);
    nodes_.push_back(node);
  }
  return Sym{place->second};
}

SymRange SymContext::range_of(const Node& node) const {
  switch (node.kind) {
    case SymKind::kConst:
      return {node.value, node.value};
    case SymKind::kSymbol:
      return symbols_[static_cast<std::size_t>(node.value)].range;
    case SymKind::kAdd:
      return range_add(range(node.a), range(node.b));
    case SymKind::kMul:
      return range_mul(range(node.a), range(node.b));
    case SymKind::kFloorDiv:
      return range_floor_div(range(node.a), range(node.b));
    case SymKind::kMod:
      return range_mod(range(node.a), range(node.b));
    case SymKind::kMin: {
      const SymRange a = range(node.a);
      const SymRange b = range(node.b);
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    }
    case SymKind::kMax: {
      const SymRange a = range(node.a);
      const SymRange b = range(node.b);
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    }
  }
  BE_CHECK(false, "kind " << static_cast<int>(node.kind));
}

int SymContext::compare(Sym a, Sym b) const {
  if (a == b) return 0;
  const Node& x = node(a);
  const Node& y = node(b);
  // Symbols before constants inside chains is the builder's affair; here kind, then content.
  if (x.kind != y.kind) return x.kind < y.kind ? -1 : 1;
  if (x.value != y.value) return x.value < y.value ? -1 : 1;
  const int first = compare(x.a, y.a);
  return first != 0 ? first : compare(x.b, y.b);
}

SymContext::Linear SymContext::linear_of(Sym a) const {
  Linear linear;
  const auto take = [&](Sym term) {
    const Node& n = node(term);
    if (n.kind == SymKind::kConst) {
      linear.constant = saturating_add(linear.constant, n.value);
    } else if (n.kind == SymKind::kMul && node(n.b).kind == SymKind::kConst) {
      linear.terms.emplace_back(n.a, node(n.b).value);
    } else {
      linear.terms.emplace_back(term, 1);
    }
  };
  while (node(a).kind == SymKind::kAdd) {
    take(node(a).b);
    a = node(a).a;
  }
  take(a);
  std::reverse(linear.terms.begin(), linear.terms.end());
  return linear;
}

void SymContext::add_term(Linear& linear, Sym term, std::int64_t coefficient) const {
  const auto place = std::lower_bound(
      linear.terms.begin(), linear.terms.end(), term,
      [this](const std::pair<Sym, std::int64_t>& t, Sym s) { return compare(t.first, s) < 0; });
  if (place == linear.terms.end() || place->first != term) {
    if (coefficient != 0) linear.terms.insert(place, {term, coefficient});
    return;
  }
  place->second = saturating_add(place->second, coefficient);
  if (place->second == 0) linear.terms.erase(place);
}

Sym SymContext::build(Linear linear) {
  Sym sum;
  for (const auto& [term, coefficient] : linear.terms) {
    const Sym scaled =
        coefficient == 1 ? term : intern(SymKind::kMul, 0, term, constant(coefficient));
    sum = sum.id < 0 ? scaled : intern(SymKind::kAdd, 0, sum, scaled);
  }
  if (sum.id < 0) return constant(linear.constant);
  if (linear.constant == 0) return sum;
  return intern(SymKind::kAdd, 0, sum, constant(linear.constant));
}

Sym SymContext::add(Sym a, Sym b) {
  Linear sum = linear_of(a);
  const Linear other = linear_of(b);
  for (const auto& [term, coefficient] : other.terms) add_term(sum, term, coefficient);
  sum.constant = saturating_add(sum.constant, other.constant);
  return build(std::move(sum));
}

Sym SymContext::sub(Sym a, Sym b) { return add(a, mul(b, constant(-1))); }

std::vector<Sym> SymContext::factors_of(Sym a) const {
  std::vector<Sym> factors;
  while (node(a).kind == SymKind::kMul) {
    factors.push_back(node(a).b);
    a = node(a).a;
  }
  factors.push_back(a);
  return factors;
}

Sym SymContext::product(std::vector<Sym> factors) {
  std::sort(factors.begin(), factors.end(), [this](Sym x, Sym y) { return compare(x, y) < 0; });
  Sym result = factors.front();
  for (std::size_t i = 1; i < factors.size(); ++i) {
    result = intern(SymKind::kMul, 0, result, factors[i]);
  }
  return result;
}

Sym SymContext::mul(Sym a, Sym b) {
  Linear x = linear_of(a);
  Linear y = linear_of(b);
  if (y.terms.empty()) std::swap(x, y);
  if (x.terms.empty()) {
    for (auto& [term, coefficient] : y.terms) {
      coefficient = saturating_mul(coefficient, x.constant);
    }
    std::erase_if(y.terms, [](const auto& t) { return t.second == 0; });
    y.constant = saturating_mul(y.constant, x.constant);
    return build(std::move(y));
  }
  // Larger products stay factored: expanding them would square the size of the text.
  if (x.terms.size() * y.terms.size() > 16) {
    std::vector<Sym> factors;
    std::int64_t scale = 1;
    for (const Linear* linear : {&x, &y}) {
      if (linear->terms.size() != 1 || linear->constant != 0) {
        factors.push_back(build(*linear));
        continue;
      }
      scale = saturating_mul(scale, linear->terms.front().second);
      for (const Sym factor : factors_of(linear->terms.front().first)) factors.push_back(factor);
    }
    Linear opaque;
    add_term(opaque, product(std::move(factors)), scale);
    return build(std::move(opaque));
  }
  Linear result;
  const auto with_one = [](const Linear& l) {
    auto terms = l.terms;
    if (l.constant != 0) terms.emplace_back(Sym{}, l.constant);
    return terms;
  };
  for (const auto& [s, p] : with_one(x)) {
    for (const auto& [t, q] : with_one(y)) {
      const std::int64_t coefficient = saturating_mul(p, q);
      if (s.id < 0 && t.id < 0) {
        result.constant = saturating_add(result.constant, coefficient);
      } else if (s.id < 0 || t.id < 0) {
        add_term(result, s.id < 0 ? t : s, coefficient);
      } else {
        std::vector<Sym> factors = factors_of(s);
        for (const Sym factor : factors_of(t)) factors.push_back(factor);
        add_term(result, product(std::move(factors)), coefficient);
      }
    }
  }
  return build(std::move(result));
}

void SymContext::split_by(Sym a, Sym b, Linear& quotient, Linear& rest) {
  const Linear dividend = linear_of(a);
  const Linear divisor = linear_of(b);
  rest = dividend;
  if (divisor.terms.empty()) {
    const std::int64_t c = divisor.constant;
    rest.terms.clear();
    for (const auto& [term, coefficient] : dividend.terms) {
      if (coefficient % c == 0 && !(coefficient == INT64_MIN && c == -1)) {
        add_term(quotient, term, coefficient / c);
      } else {
        add_term(rest, term, coefficient);
      }
    }
    quotient.constant = floor_divide(dividend.constant, c);
    rest.constant = floor_modulo(dividend.constant, c);
    return;
  }
  if (divisor.terms.size() != 1 || divisor.constant != 0) {
    if (a == b) {
      quotient.constant = 1;
      rest = Linear{};
    }
    return;
  }
  const auto& [unit, scale] = divisor.terms.front();
  const std::vector<Sym> needed = factors_of(unit);
  rest.terms.clear();
  for (const auto& [term, coefficient] : dividend.terms) {
    std::vector<Sym> left = factors_of(term);
    bool divides = coefficient % scale == 0 && scale != -1;
    for (const Sym factor : needed) {
      const auto place = std::find(left.begin(), left.end(), factor);
      divides = divides && place != left.end();
      if (!divides) break;
      left.erase(place);
    }
    if (!divides) {
      add_term(rest, term, coefficient);
    } else if (left.empty()) {
      quotient.constant = saturating_add(quotient.constant, coefficient / scale);
    } else {
      add_term(quotient, product(std::move(left)), coefficient / scale);
    }
  }
}

Sym SymContext::floor_div(Sym a, Sym b) {
  const std::optional<std::int64_t> divisor = as_constant(b);
  if (divisor == 0) return constant(0);
  if (divisor && *divisor < 0 && *divisor != INT64_MIN) {
    return floor_div(mul(a, constant(-1)), constant(-*divisor));
  }
  const SymRange divisor_range = range(b);
  if (divisor_range.lo <= 0 && divisor_range.hi >= 0) {
    return is_constant(a, 0) ? a : intern(SymKind::kFloorDiv, 0, a, b);
  }
  Linear quotient;
  Linear rest;
  split_by(a, b, quotient, rest);
  const Sym whole = build(quotient);
  Sym left = build(rest);
  const SymRange left_range = range(left);
  if (left_range.lo >= 0 && left_range.hi < divisor_range.lo) return whole;
  Sym by = b;
  if (divisor) {
    std::int64_t common = *divisor;
    for (const auto& term : rest.terms) common = std::gcd(common, term.second);
    if (common > 1) {
      for (auto& term : rest.terms) term.second /= common;
      rest.constant = floor_divide(rest.constant, common);
      return add(whole, floor_div(build(rest), constant(*divisor / common)));
    }
    const Node& inner = node(left);
    if (inner.kind == SymKind::kFloorDiv && as_constant(inner.b).value_or(0) > 0) {
      by = constant(saturating_mul(*as_constant(inner.b), *divisor));
      left = node(left).a;
      return add(whole, floor_div(left, by));
    }
  }
  return add(whole, intern(SymKind::kFloorDiv, 0, left, by));
}

Sym SymContext::mod(Sym a, Sym b) {
  const std::optional<std::int64_t> divisor = as_constant(b);
  if (divisor == 0) return constant(0);
  const SymRange divisor_range = range(b);
  if (divisor_range.lo <= 0 && divisor_range.hi >= 0) {
    return is_constant(a, 0) ? a : intern(SymKind::kMod, 0, a, b);
  }
  if (divisor && *divisor < 0) {
    const std::optional<std::int64_t> dividend = as_constant(a);
    if (dividend) return constant(floor_modulo(*dividend, *divisor));
    return intern(SymKind::kMod, 0, a, b);
  }
  Linear quotient;
  Linear rest;
  split_by(a, b, quotient, rest);
  const Sym left = build(rest);
  const SymRange left_range = range(left);
  if (left_range.lo >= 0 && left_range.hi < divisor_range.lo) return left;
  return intern(SymKind::kMod, 0, left, b);
}

bool SymContext::is_at_most(Sym a, Sym b, int depth) {
  if (range(sub(a, b)).hi <= 0) return true;
  if (depth == 0) return false;
  const Sym a1 = node(a).a;
  const Sym a2 = node(a).b;
  const Sym b1 = node(b).a;
  const Sym b2 = node(b).b;
  const int next = depth - 1;
  const SymKind kind_a = node(a).kind;
  const SymKind kind_b = node(b).kind;
  if (kind_a == SymKind::kMax) return is_at_most(a1, b, next) && is_at_most(a2, b, next);
  if (kind_b == SymKind::kMin) return is_at_most(a, b1, next) && is_at_most(a, b2, next);
  if (kind_a == SymKind::kMin && (is_at_most(a1, b, next) || is_at_most(a2, b, next))) return true;
  return kind_b == SymKind::kMax && (is_at_most(a, b1, next) || is_at_most(a, b2, next));
}

Sym SymContext::extreme(SymKind kind, Sym a, Sym b) {
  std::vector<Sym> candidates;
  for (Sym side : {a, b}) {
    while (node(side).kind == kind) {
      candidates.push_back(node(side).b);
      side = node(side).a;
    }
    candidates.push_back(side);
  }
  std::sort(candidates.begin(), candidates.end(),
            [this](Sym x, Sym y) { return compare(x, y) < 0; });
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  for (std::size_t i = 0; i < candidates.size();) {
    bool dominated = false;
    for (std::size_t j = 0; j < candidates.size() && !dominated; ++j) {
      if (i == j) continue;
      dominated = kind == SymKind::kMin ? is_at_most(candidates[j], candidates[i], 3)
                                        : is_at_most(candidates[i], candidates[j], 3);
    }
    if (dominated) {
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  Sym result = candidates.front();
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    result = intern(kind, 0, result, candidates[i]);
  }
  return result;
}

Sym SymContext::min(Sym a, Sym b) { return extreme(SymKind::kMin, a, b); }

Sym SymContext::max(Sym a, Sym b) { return extreme(SymKind::kMax, a, b); }

std::optional<std::int64_t> SymContext::as_constant(Sym a) const {
  if (node(a).kind != SymKind::kConst) return std::nullopt;
  return node(a).value;
}

bool SymContext::is_constant(Sym a, std::int64_t value) const { return as_constant(a) == value; }

SymRange SymContext::range(Sym a) const { return node(a).range; }

bool SymContext::is_provably_different(Sym a, Sym b) {
  if (a == b) return false;
  const SymRange gap = range(sub(a, b));
  if (gap.lo > 0 || gap.hi < 0) return true;
  const SymRange x = range(a);
  const SymRange y = range(b);
  return x.lo > y.hi || y.lo > x.hi;
}

std::int64_t SymContext::evaluate(Sym a, std::span<const std::int64_t> symbol_values) const {
  const Node& n = node(a);
  if (n.kind == SymKind::kConst) return n.value;
  if (n.kind == SymKind::kSymbol) {
    BE_CHECK(static_cast<std::size_t>(n.value) < symbol_values.size(),
             "no value for symbol " << symbols_[static_cast<std::size_t>(n.value)].name);
    return symbol_values[static_cast<std::size_t>(n.value)];
  }
  const std::int64_t x = evaluate(n.a, symbol_values);
  const std::int64_t y = evaluate(n.b, symbol_values);
  switch (n.kind) {
    case SymKind::kAdd:
      return saturating_add(x, y);
    case SymKind::kMul:
      return saturating_mul(x, y);
    case SymKind::kFloorDiv:
      return floor_divide(x, y);
    case SymKind::kMod:
      return floor_modulo(x, y);
    case SymKind::kMin:
      return std::min(x, y);
    default:
      return std::max(x, y);
  }
}

std::int64_t SymContext::hint(Sym a) const {
  std::vector<std::int64_t> hints;
  for (const Symbol& symbol : symbols_) hints.push_back(symbol.hint);
  return evaluate(a, hints);
}

std::optional<int> SymContext::symbol_index(Sym a) const {
  if (node(a).kind != SymKind::kSymbol) return std::nullopt;
  return static_cast<int>(node(a).value);
}

SymKind SymContext::kind(Sym a) const { return node(a).kind; }

std::pair<Sym, Sym> SymContext::operands(Sym a) const {
  BE_CHECK(node(a).a.id >= 0, "not a binary expression");
  return {node(a).a, node(a).b};
}

}  // namespace breakeven
