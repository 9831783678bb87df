#pragma once

#include <cstdint>

#include "compiler/ir/dtype.h"

namespace breakeven {

float half_to_float(std::uint16_t bits);
std::uint16_t float_to_half(float value);  ///< Rounds to nearest even; overflow becomes infinity.
float bfloat16_to_float(std::uint16_t bits);
std::uint16_t float_to_bfloat16(float value);  ///< Rounds to nearest even; NaN stays NaN.

/// Reads one element at `source`, which needs no alignment, as double.
double decode_element(DType dtype, const void* source);
/// Writes `value` as one element, converted as convert_to does.
void encode_element(DType dtype, double value, void* target);

/// `value` after a conversion to `dtype`, as double. Floating to integer truncates; values out of
/// range take what eager PyTorch on x86-64 gives (u8 wraps through i64, i32 and i64 give their
/// minimum), so that the reference and eager agree where C++ leaves it open. Bool is value != 0.
double convert_to(DType dtype, double value);

/// `value`, an integer held in a double, wrapped to the width of an integral `dtype`.
double wrap_integer(DType dtype, double value);

}  // namespace breakeven
