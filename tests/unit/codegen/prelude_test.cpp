#include "compiler/codegen/prelude.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "compiler/codegen/driver.h"
#include "compiler/runtime/kernel_cache.h"

namespace breakeven {
namespace {

std::shared_ptr<LoadedKernel> compile(const std::string& driver_name, const std::string& in_type,
                                      const std::string& out_type, const std::string& expression) {
  const std::string text =
      "extern \"C\" void be_kernel(const void* const* in, void* const* out, const long long* sym, "
      "long long begin, long long end, void* scratch) {\n"
      "  const " +
      in_type + "* x = (const " + in_type + "*)in[0];\n  " + out_type + "* y = (" + out_type +
      "*)out[0];\n"
      "  for (long long i = begin; i < end; ++i) y[i] = " +
      expression + ";\n}\n";
  DriverOptions options;
  options.name = driver_name;
  options.target = detect_cpu();
  auto driver = make_driver(options);
  EXPECT_TRUE(driver.ok()) << driver.refusal().reason;
  const auto object = driver.value()->compile(prelude_for(text) + text);
  EXPECT_TRUE(object.ok()) << object.refusal().reason;
  auto kernel = LoadedKernel::load(object.value(), "be_kernel");
  EXPECT_TRUE(kernel.ok()) << kernel.refusal().reason;
  return std::move(kernel).value();
}

/// Floats of every exponent and sign, denormals, infinities and NaN: every `step`-th bit pattern.
std::vector<float> floats(std::uint32_t step) {
  std::vector<float> values = {0.0f,  -0.0f,     INFINITY, -INFINITY, NAN,   1.0f,
                               -1.0f, 88.72284f, -103.97f, -104.5f,   1e-45f};
  for (std::uint64_t bits = 0; bits <= UINT32_MAX; bits += step) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return values;
}

/// |got - want| in units of the last place of `want` as f32.
double ulp_error(float got, double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (std::isinf(rounded)) {
    return got == rounded || std::fabs(got) >= 3.4028234e38f ? 0 : HUGE_VAL;
  }
  if (!std::isfinite(got)) return std::fabs(rounded) >= 3.4028234e38f ? 0 : HUGE_VAL;
  const int exponent = std::max(std::ilogb(rounded == 0 ? 1e-45f : rounded), -126);
  return std::fabs(static_cast<double>(got) - want) / std::ldexp(1.0, exponent - 23);
}

struct Function {
  const char* name;
  const char* expression;
  double (*reference)(double);
  double ulps;
};

const Function kFunctions[] = {
    {"exp", "be_exp_f32(x[i])", [](double x) { return std::exp(x); }, 2},
    {"log", "be_log_f32(x[i])", [](double x) { return std::log(x); }, 2},
    {"tanh", "be_tanh_f32(x[i])", [](double x) { return std::tanh(x); }, 2.5},
    {"erf", "be_erf_f32(x[i])", [](double x) { return std::erf(x); }, 2},
    {"sin", "be_sin_f32(x[i])", [](double x) { return std::sin(x); }, 1.5},
    {"cos", "be_cos_f32(x[i])", [](double x) { return std::cos(x); }, 1.5},
    {"log1p", "be_log1p_f32(x[i])", [](double x) { return std::log1p(x); }, 2},
    {"expm1", "be_expm1_f32(x[i])", [](double x) { return std::expm1(x); }, 2},
    {"rsqrt", "be_rsqrt_f32(x[i])", [](double x) { return 1 / std::sqrt(x); }, 1.5},
};

class PreludeTest : public testing::TestWithParam<std::tuple<int, const char*>> {};

TEST_P(PreludeTest, StaysWithinItsBoundOverAllExponents) {
  const Function& function = kFunctions[std::get<0>(GetParam())];
  const auto kernel = compile(std::get<1>(GetParam()), "float", "float", function.expression);
  const std::vector<float> x = floats(9973);
  std::vector<float> y(x.size());
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  kernel->entry()(in, out, nullptr, 0, static_cast<std::int64_t>(x.size()), nullptr);
  double worst = 0;
  float at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = ulp_error(y[i], function.reference(x[i]));
    if (error > worst) {
      worst = error;
      at = x[i];
    }
  }
  EXPECT_LE(worst, function.ulps) << function.name << " at " << at;
}

INSTANTIATE_TEST_SUITE_P(All, PreludeTest,
                         testing::Combine(testing::Range(0,
                                                         static_cast<int>(std::size(kFunctions))),
                                          testing::Values("auto", "system")),
                         [](const auto& info) {
                           return std::string(kFunctions[std::get<0>(info.param)].name) + "_" +
                                  std::get<1>(info.param);
                         });

TEST(ShortFloats, RoundToNearestEvenInBothDirections) {
  const auto bf16 = compile("auto", "float", "be_u16", "be_store_bf16(x[i])");
  const auto f16 = compile("auto", "float", "_Float16", "be_store_f16(x[i])");
  const std::vector<float> x = {1.00390625f,   1.01171875f,   3.4e38f,  INFINITY,
                                -0.0f,         65519.0f,      65520.0f, 5.9604645e-8f,
                                2.9802322e-8f, 1.00048828125f};
  std::vector<std::uint16_t> bits(x.size());
  const void* in[] = {x.data()};
  void* out[] = {bits.data()};
  bf16->entry()(in, out, nullptr, 0, static_cast<std::int64_t>(x.size()), nullptr);
  EXPECT_EQ(bits[0], 0x3f80);  // A tie goes to the even neighbour...
  EXPECT_EQ(bits[1], 0x3f82);  // ...also upwards.
  EXPECT_EQ(bits[2], 0x7f80);
  EXPECT_EQ(bits[3], 0x7f80);
  EXPECT_EQ(bits[4], 0x8000);
  f16->entry()(in, out, nullptr, 0, static_cast<std::int64_t>(x.size()), nullptr);
  EXPECT_EQ(bits[5], 0x7bff);
  EXPECT_EQ(bits[6], 0x7c00);
  EXPECT_EQ(bits[7], 0x0001);
  EXPECT_EQ(bits[8], 0x0000);
  EXPECT_EQ(bits[9], 0x3c00);
}

TEST(Prelude, HoldsOnlyWhatTheBodyCalls) {
  const std::string text = prelude_for("y[i] = be_tanh_f32(x[i]);");
  EXPECT_NE(text.find("be_tanh_f32(float"), std::string::npos);
  EXPECT_NE(text.find("be_exp_f32(float"), std::string::npos);  // tanh calls it.
  EXPECT_EQ(text.find("be_erf"), std::string::npos);
  EXPECT_EQ(text, prelude_for("y[i] = be_tanh_f32(x[i]);"));
}

}  // namespace
}  // namespace breakeven
