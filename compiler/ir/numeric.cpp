#include "compiler/ir/numeric.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "compiler/support/check.h"

namespace breakeven {
namespace {

template <typename T>
T load(const void* source) {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

template <typename T>
void store(T value, void* target) {
  std::memcpy(target, &value, sizeof(T));
}

/// cvttsd2si: truncates, and gives the minimum for NaN and for what does not fit.
std::int64_t truncate_to_i64(double value) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return INT64_MIN;
  return static_cast<std::int64_t>(value);
}

std::int32_t truncate_to_i32(double value) {
  if (!(value > -2147483649.0 && value < 2147483648.0)) return INT32_MIN;
  return static_cast<std::int32_t>(value);
}

}  // namespace

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (mantissa << 13));
}

std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    return static_cast<std::uint16_t>(sign | 0x7C00U | 0x200U | ((magnitude >> 13) & 0x3FFU));
  }
  if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude < 0x38800000U) {
    // Below the smallest normal half: adding 0.5 puts the rounding point at half's last bit.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
  }
  const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  }
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

double decode_element(DType dtype, const void* source) {
  switch (dtype) {
    case DType::kBool:
      return load<std::uint8_t>(source) != 0 ? 1.0 : 0.0;
    case DType::kU8:
      return load<std::uint8_t>(source);
    case DType::kI8:
      return load<std::int8_t>(source);
    case DType::kI16:
      return load<std::int16_t>(source);
    case DType::kI32:
      return load<std::int32_t>(source);
    case DType::kI64:
      return static_cast<double>(load<std::int64_t>(source));
    case DType::kF16:
      return half_to_float(load<std::uint16_t>(source));
    case DType::kBF16:
      return bfloat16_to_float(load<std::uint16_t>(source));
    case DType::kF32:
      return load<float>(source);
    case DType::kF64:
      return load<double>(source);
  }
  BE_CHECK(false, "dtype " << static_cast<int>(dtype));
}

void encode_element(DType dtype, double value, void* target) {
  switch (dtype) {
    case DType::kBool:
      store<std::uint8_t>(value != 0 ? 1 : 0, target);
      return;
    case DType::kU8:
      store(static_cast<std::uint8_t>(truncate_to_i64(value)), target);
      return;
    case DType::kI8:
      store(static_cast<std::int8_t>(truncate_to_i32(value)), target);
      return;
    case DType::kI16:
      store(static_cast<std::int16_t>(truncate_to_i32(value)), target);
      return;
    case DType::kI32:
      store(truncate_to_i32(value), target);
      return;
    case DType::kI64:
      store(truncate_to_i64(value), target);
      return;
    case DType::kF16:
      store(float_to_half(static_cast<float>(value)), target);
      return;
    case DType::kBF16:
      store(float_to_bfloat16(static_cast<float>(value)), target);
      return;
    case DType::kF32:
      store(static_cast<float>(value), target);
      return;
    case DType::kF64:
      store(value, target);
      return;
  }
  BE_CHECK(false, "dtype " << static_cast<int>(dtype));
}

double convert_to(DType dtype, double value) {
  if (dtype == DType::kF64) return value;
  unsigned char bytes[8];
  encode_element(dtype, value, bytes);
  return decode_element(dtype, bytes);
}

double wrap_integer(DType dtype, double value) {
  switch (dtype) {
    case DType::kU8:
      return static_cast<std::uint8_t>(truncate_to_i64(value));
    case DType::kI8:
      return static_cast<std::int8_t>(truncate_to_i64(value));
    case DType::kI16:
      return static_cast<std::int16_t>(truncate_to_i64(value));
    case DType::kI32:
      return static_cast<std::int32_t>(truncate_to_i64(value));
    case DType::kI64:
      return static_cast<double>(truncate_to_i64(value));
    default:
      BE_CHECK(false, "not an integer: " << name_of(dtype));
  }
}

}  // namespace breakeven
