#include "harness/measure/workload.h"

#include <gtest/gtest.h>

#include <cstring>

namespace breakeven {
namespace {

Scenario scenario() {
  Scenario made;
  made.dims = {{"length", 1, 64}};
  made.inputs = {{"ids", DType::kI64, {"2", "length"}, 3, 5},
                 {"x", DType::kF32, {"length"}, -1, 1}};
  return made;
}

TEST(Workload, InputsHaveShapeAndRange) {
  const Scenario made = scenario();
  const std::vector<HostTensor> inputs = make_inputs(made, {40}, 7);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].sizes, (std::vector<std::int64_t>{2, 40}));
  std::int64_t low = 9, high = 0;
  for (int i = 0; i < 80; ++i) {
    low = std::min(low, inputs[0].as<std::int64_t>()[i]);
    high = std::max(high, inputs[0].as<std::int64_t>()[i]);
  }
  EXPECT_EQ(low, 3);
  EXPECT_EQ(high, 5);
  for (int i = 0; i < 40; ++i) EXPECT_LE(std::abs(inputs[1].as<float>()[i]), 1.0F);
}

TEST(Workload, SameSeedSameBytesForEveryArm) {
  const Scenario made = scenario();
  const auto a = make_inputs(made, {16}, 7), b = make_inputs(made, {16}, 7),
             c = make_inputs(made, {16}, 8);
  EXPECT_EQ(std::memcmp(a[1].data, b[1].data, 64), 0);
  EXPECT_NE(std::memcmp(a[1].data, c[1].data, 64), 0);
}

TEST(Workload, EachShapeIsMadeOnce) {
  const Scenario made = scenario();
  Workload workload(made, 1);
  EXPECT_EQ(workload.add({8}), 0);
  EXPECT_EQ(workload.add({9}), 1);
  EXPECT_EQ(workload.add({8}), 0);
  EXPECT_EQ(workload.names(), (std::vector<std::string>{"length=8", "length=9"}));
}

}  // namespace
}  // namespace breakeven
