#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace breakeven {

enum class DType : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kI16,
  kI32,
  kI64,
  kF16,
  kBF16,
  kF32,
  kF64,
};

/// Size of one element in bytes.
int size_of(DType dtype);
/// "f32", "i64", "bool", ...: the text form used in .ir files, logs and scenarios.
std::string_view name_of(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);
bool is_floating(DType dtype);
bool is_integral(DType dtype);  ///< Signed or unsigned integers; bool is neither.
/// PyTorch's promotion of two tensors of rank >= 1.
DType promote(DType a, DType b);

}  // namespace breakeven
