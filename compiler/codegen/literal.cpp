#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>

#include "compiler/codegen/c_types.h"
#include "compiler/codegen/emit.h"

namespace breakeven {

std::string float_literal(double value, DType dtype) {
  const bool is_double = dtype == DType::kF64;
  const std::string suffix = is_double ? "" : "f";
  if (std::isnan(value)) return "__builtin_nan" + suffix + "(\"\")";
  if (!is_double) value = static_cast<float>(value);
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return '(' + sign + "__builtin_inf" + suffix + "())";
  char text[64];
  std::snprintf(text, sizeof text, "%a", std::fabs(value));
  return '(' + sign + text + suffix + ')';
}

std::string integer_literal(std::int64_t value, DType dtype) {
  const std::string cast = "((" + std::string(c_type(dtype).reg) + ")";
  // The smallest integer has no literal of its own.
  if (value == std::numeric_limits<std::int64_t>::min()) {
    return cast + "(-9223372036854775807LL - 1))";
  }
  return cast + std::to_string(value) + "LL)";
}

}  // namespace breakeven
