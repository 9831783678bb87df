#pragma once

#include <algorithm>
#include <cstdint>

#include "compiler/ir/sym.h"

namespace breakeven {

/// Arithmetic of symbol ranges: INT64_MAX and INT64_MIN stand for plus and minus infinity, and
/// results that do not fit become one of them.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  if (a == INT64_MIN || b == INT64_MIN) return INT64_MIN;
  if (a == INT64_MAX || b == INT64_MAX) return INT64_MAX;
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? INT64_MAX : INT64_MIN;
}

inline std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (a == 1) return b;
  if (b == 1) return a;
  const std::int64_t infinity = (a > 0) == (b > 0) ? INT64_MAX : INT64_MIN;
  const auto is_infinite = [](std::int64_t x) { return x == INT64_MAX || x == INT64_MIN; };
  std::int64_t product = 0;
  if (is_infinite(a) || is_infinite(b) || __builtin_mul_overflow(a, b, &product)) return infinity;
  return product;
}

/// Python's // and %, with x // 0 == 0, x % 0 == 0 and infinities kept.
inline std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return a == INT64_MIN ? INT64_MAX : -a;
  const bool negative = (a < 0) != (b < 0);
  if (a == INT64_MAX || a == INT64_MIN) {
    if (b != INT64_MAX && b != INT64_MIN) return negative ? INT64_MIN : INT64_MAX;
  }
  const std::int64_t quotient = a / b;
  return negative && quotient * b != a ? quotient - 1 : quotient;
}

inline std::int64_t floor_modulo(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

inline SymRange range_add(SymRange a, SymRange b) {
  return {saturating_add(a.lo, b.lo),
          a.hi == INT64_MAX || b.hi == INT64_MAX ? INT64_MAX : saturating_add(a.hi, b.hi)};
}

inline SymRange range_mul(SymRange a, SymRange b) {
  const auto [lo, hi] = std::minmax({saturating_mul(a.lo, b.lo), saturating_mul(a.lo, b.hi),
                                     saturating_mul(a.hi, b.lo), saturating_mul(a.hi, b.hi)});
  return {lo, hi};
}

inline SymRange range_floor_div(SymRange a, SymRange b) {
  SymRange result{INT64_MAX, INT64_MIN};
  const auto include = [&](std::int64_t value) {
    result.lo = std::min(result.lo, value);
    result.hi = std::max(result.hi, value);
  };
  const auto include_quotients = [&](std::int64_t divisor) {
    include(floor_divide(a.lo, divisor));
    include(floor_divide(a.hi, divisor));
  };
  if (b.lo <= 0 && b.hi >= 0) include(0);
  if (b.lo != 0) include_quotients(b.lo);
  if (b.hi != 0) include_quotients(b.hi);
  if (b.lo < 0 && b.hi > 0) {
    include_quotients(-1);
    include_quotients(1);
  } else if (b.lo == 0 && b.hi > 0) {
    include_quotients(1);
  } else if (b.hi == 0 && b.lo < 0) {
    include_quotients(-1);
  }
  return result;
}

inline SymRange range_mod(SymRange a, SymRange b) {
  if (b.lo > 0) {
    const std::int64_t below = b.hi == INT64_MAX ? INT64_MAX : b.hi - 1;
    return {0, a.lo >= 0 ? std::min(a.hi, below) : below};
  }
  return {b.lo < 0 ? (b.lo == INT64_MIN ? INT64_MIN : b.lo + 1) : 0,
          b.hi > 0 ? (b.hi == INT64_MAX ? INT64_MAX : b.hi - 1) : 0};
}

}  // namespace breakeven
