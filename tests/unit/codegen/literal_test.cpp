#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "compiler/codegen/driver.h"
#include "compiler/codegen/emit.h"
#include "compiler/codegen/prelude.h"
#include "compiler/runtime/kernel_cache.h"

namespace breakeven {
namespace {

/// Compiles an entry that writes `expression` to out[0] and returns its bytes.
template <typename T>
T evaluate(const std::string& driver_name, const std::string& type, const std::string& expression) {
  const std::string text =
      "extern \"C\" void be_kernel(const void* const* in, void* const* out, "
      "const long long* sym, long long begin, long long end, void* scratch) "
      "{\n  *(" +
      type + "*)out[0] = " + expression + ";\n}\n";
  DriverOptions options;
  options.name = driver_name;
  options.target = detect_cpu();
  auto driver = make_driver(options);
  EXPECT_TRUE(driver.ok()) << driver.refusal().reason;
  const auto object = driver.value()->compile(prelude_for(text) + text);
  EXPECT_TRUE(object.ok()) << object.refusal().reason;
  const auto kernel = LoadedKernel::load(object.value(), "be_kernel");
  EXPECT_TRUE(kernel.ok()) << kernel.refusal().reason;
  T value{};
  void* out[] = {&value};
  kernel.value()->entry()(nullptr, out, nullptr, 0, 1, nullptr);
  return value;
}

class LiteralTest : public testing::TestWithParam<const char*> {};

TEST_P(LiteralTest, FloatsComeBackBitForBit) {
  for (const float value :
       {0.0f, -0.0f, 0.1f, 1e-45f, -1e-45f, std::numeric_limits<float>::max(),
        std::numeric_limits<float>::min(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(), 16777217.0f}) {
    const float got = evaluate<float>(GetParam(), "float", float_literal(value, DType::kF32));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(value)) << value;
  }
  EXPECT_TRUE(std::isnan(evaluate<float>(GetParam(), "float", float_literal(NAN, DType::kF32))));
}

TEST_P(LiteralTest, DoublesComeBackBitForBit) {
  for (const double value : {0.1, -0.0, 5e-324, 1.7976931348623157e308, HUGE_VAL, -HUGE_VAL}) {
    const double got = evaluate<double>(GetParam(), "double", float_literal(value, DType::kF64));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(got), std::bit_cast<std::uint64_t>(value)) << value;
  }
}

TEST_P(LiteralTest, IntegersComeBackExactly) {
  for (const std::int64_t value : {INT64_MIN, INT64_MAX, std::int64_t{-1}, std::int64_t{0},
                                   std::int64_t{1} << 53, std::int64_t{INT32_MIN} - 1}) {
    EXPECT_EQ(evaluate<std::int64_t>(GetParam(), "long long", integer_literal(value, DType::kI64)),
              value);
  }
  EXPECT_EQ(evaluate<std::int32_t>(GetParam(), "int", integer_literal(INT32_MIN, DType::kI32)),
            INT32_MIN);
}

INSTANTIATE_TEST_SUITE_P(Drivers, LiteralTest, testing::Values("auto", "system"));

}  // namespace
}  // namespace breakeven
