#include "compiler/ir/dtype.h"

#include <array>
#include <utility>

#include "compiler/support/check.h"

namespace breakeven {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bytes;
};

constexpr std::array kDTypes = {
    DTypeRow{DType::kBool, "bool", 1}, DTypeRow{DType::kU8, "u8", 1},
    DTypeRow{DType::kI8, "i8", 1},     DTypeRow{DType::kI16, "i16", 2},
    DTypeRow{DType::kI32, "i32", 4},   DTypeRow{DType::kI64, "i64", 8},
    DTypeRow{DType::kF16, "f16", 2},   DTypeRow{DType::kBF16, "bf16", 2},
    DTypeRow{DType::kF32, "f32", 4},   DTypeRow{DType::kF64, "f64", 8},
};

const DTypeRow& row_of(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  BE_CHECK(index < kDTypes.size(), "dtype " << index);
  return kDTypes[index];
}

}  // namespace

int size_of(DType dtype) { return row_of(dtype).bytes; }

std::string_view name_of(DType dtype) { return row_of(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

bool is_floating(DType dtype) { return dtype >= DType::kF16; }

bool is_integral(DType dtype) { return dtype >= DType::kU8 && dtype <= DType::kI64; }

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);  // b is the later one in the order bool, integers, floats.
  if (a == DType::kF16 && b == DType::kBF16) return DType::kF32;
  // Unsigned and signed bytes meet in i16; everything else meets in the later of the two.
  if (a == DType::kU8 && b == DType::kI8) return DType::kI16;
  return b;
}

}  // namespace breakeven
