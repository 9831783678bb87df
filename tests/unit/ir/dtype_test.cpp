#include "compiler/ir/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "compiler/ir/host_tensor.h"
#include "compiler/ir/numeric.h"

namespace breakeven {
namespace {

constexpr DType kAll[] = {DType::kBool, DType::kU8,  DType::kI8,   DType::kI16, DType::kI32,
                          DType::kI64,  DType::kF16, DType::kBF16, DType::kF32, DType::kF64};

TEST(DType, NamesReadBack) {
  for (const DType dtype : kAll) EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
  EXPECT_FALSE(parse_dtype("f33").has_value());
}

TEST(DType, PromotionIsCommutativeAndFollowsPyTorch) {
  for (const DType a : kAll) {
    EXPECT_EQ(promote(a, a), a);
    EXPECT_EQ(promote(DType::kBool, a), a);
    for (const DType b : kAll) EXPECT_EQ(promote(a, b), promote(b, a));
  }
  EXPECT_EQ(promote(DType::kU8, DType::kI8), DType::kI16);
  EXPECT_EQ(promote(DType::kU8, DType::kI32), DType::kI32);
  EXPECT_EQ(promote(DType::kF16, DType::kBF16), DType::kF32);
  EXPECT_EQ(promote(DType::kI64, DType::kF16), DType::kF16);
  EXPECT_EQ(promote(DType::kBF16, DType::kF64), DType::kF64);
}

TEST(Numeric, EveryHalfReadsBackToItself) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = half_to_float(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      ASSERT_EQ(float_to_half(value), half) << bits;
    }
    const float wide = bfloat16_to_float(half);
    if (!std::isnan(wide)) {
      ASSERT_EQ(float_to_bfloat16(wide), half) << bits;
    }
  }
}

TEST(Numeric, RoundsToNearestEven) {
  EXPECT_EQ(convert_to(DType::kBF16, 1.001953125), 1.0);
  EXPECT_EQ(convert_to(DType::kBF16, 1.00390625), 1.0);       // Halfway, to even.
  EXPECT_EQ(convert_to(DType::kBF16, 1.01171875), 1.015625);  // Halfway, to even.
  EXPECT_EQ(convert_to(DType::kF16, 65519.0), 65504.0);
  EXPECT_TRUE(std::isinf(convert_to(DType::kF16, 65520.0)));
  EXPECT_EQ(convert_to(DType::kF16, 0x1p-25), 0.0);
  EXPECT_EQ(convert_to(DType::kF16, 0x1.8p-25), 0x1p-24);
}

// Case B026: what eager gives on x86-64.
TEST(Numeric, FloatToIntegerOutOfRange) {
  const double inputs[] = {-2.7, 255.9, 256.5, 300, -300};
  const double expected[] = {254, 255, 0, 44, 212};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(convert_to(DType::kU8, inputs[i]), expected[i]);
  const double inf = std::numeric_limits<double>::infinity();
  for (const double x : {std::nan(""), inf, -inf, 3e9}) {
    EXPECT_EQ(convert_to(DType::kI32, x), INT32_MIN);
  }
  EXPECT_EQ(convert_to(DType::kI64, inf), static_cast<double>(INT64_MIN));
  EXPECT_EQ(wrap_integer(DType::kU8, -7), 249);
}

TEST(HostTensor, StridesElementsAndContiguity) {
  HostTensor tensor = HostTensor::empty(DType::kF32, {2, 3});
  for (int i = 0; i < 6; ++i) tensor.as<float>()[i] = static_cast<float>(i);
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data) % 64, 0U);
  EXPECT_EQ(tensor.byte_count(), 24);
  HostTensor transposed = tensor;
  transposed.sizes = {3, 2};
  transposed.strides = {1, 3};
  EXPECT_FALSE(transposed.is_contiguous());
  EXPECT_EQ(element_as_double(transposed, 1), 3);
  EXPECT_EQ(element_as_double(transposed, 4), 2);
  EXPECT_EQ(HostTensor::zeros(DType::kI64, {0, 5}).element_count(), 0);
}

}  // namespace
}  // namespace breakeven
