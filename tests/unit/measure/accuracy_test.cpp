#include "harness/measure/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace breakeven {
namespace {

HostTensor tensor(std::vector<double> values, DType dtype = DType::kF32) {
  HostTensor made = HostTensor::empty(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::kF32) made.as<float>()[i] = static_cast<float>(values[i]);
    if (dtype == DType::kF64) made.as<double>()[i] = values[i];
    if (dtype == DType::kI64) made.as<std::int64_t>()[i] = static_cast<std::int64_t>(values[i]);
  }
  return made;
}

AccuracyRecord judge(std::vector<double> eager, std::vector<double> exact,
                     std::vector<double> arm) {
  const HostTensor from_eager = tensor(eager);
  return judge_accuracy("arm", "shape",
                        {{from_eager}, {from_eager}, {tensor(exact, DType::kF64)}, {tensor(arm)}});
}

TEST(Accuracy, AllowsTwiceEagersErrorAndTwoUlp) {
  EXPECT_TRUE(judge({1.001}, {1}, {1.002}).ok);
  EXPECT_FALSE(judge({1.001}, {1}, {1.0021}).ok);
  // An exact eager leaves the 2 ulp of the largest output.
  EXPECT_TRUE(judge({1, 0}, {1, 0}, {1 + 2 * 0x1p-23, 0}).ok);
  EXPECT_FALSE(judge({1, 0}, {1, 0}, {1 + 8 * 0x1p-23, 0}).ok);
}

TEST(Accuracy, NanAndInfinityMustStandWhereEagerHasThem) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(judge({nan, inf, 1}, {nan, inf, 1}, {nan, inf, 1}).ok);
  const AccuracyRecord moved = judge({nan, 1}, {nan, 1}, {1, nan});
  EXPECT_FALSE(moved.masks_equal);
  EXPECT_FALSE(moved.ok);
  EXPECT_FALSE(judge({inf}, {inf}, {-inf}).ok);
  EXPECT_FALSE(judge({1}, {1}, {nan}).ok);
}

TEST(Accuracy, NothingToCompareIsNotEqual) {
  const double nan = std::nan("");
  EXPECT_FALSE(judge({nan, nan}, {nan, nan}, {nan, nan}).ok);
  EXPECT_FALSE(judge({}, {}, {}).ok);
  EXPECT_FALSE(judge_accuracy("arm", "shape", {}).ok);
  EXPECT_TRUE(judge({nan, 1}, {nan, 1}, {nan, 1}).ok);
}

TEST(Accuracy, IntegersMustBeEqual) {
  const HostTensor eager = tensor({1, 2}, DType::kI64);
  const auto judged = [&](std::vector<double> arm) {
    return judge_accuracy("arm", "shape", {{eager}, {eager}, {eager}, {tensor(arm, DType::kI64)}})
        .ok;
  };
  EXPECT_TRUE(judged({1, 2}));
  EXPECT_FALSE(judged({1, 3}));
}

TEST(Accuracy, WorstOutputIsKept) {
  const HostTensor one = tensor({1}), exact = tensor({1}, DType::kF64);
  const AccuracyRecord record = judge_accuracy(
      "arm", "shape", {{one, one}, {one, one}, {exact, exact}, {one, tensor({1.5})}});
  EXPECT_FALSE(record.ok);
  EXPECT_DOUBLE_EQ(record.rmse_arm, 0.5);
}

TEST(Accuracy, DifferentTypesOrCountsFail) {
  const HostTensor one = tensor({1}), exact = tensor({1}, DType::kF64);
  EXPECT_FALSE(judge_accuracy("a", "s", {{one}, {one}, {exact}, {}}).ok);
  EXPECT_FALSE(judge_accuracy("a", "s", {{one}, {one}, {exact}, {exact}}).ok);
  EXPECT_FALSE(judge_accuracy("a", "s", {{one}, {one}, {exact}, {tensor({1, 1})}}).ok);
}

TEST(Accuracy, EagerThatDiffersFromItselfIsSaid) {
  const HostTensor one = tensor({1}), other = tensor({1 + 0x1p-23}),
                   exact = tensor({1}, DType::kF64);
  EXPECT_FALSE(judge_accuracy("a", "s", {{one}, {other}, {exact}, {one}}).eager_deterministic);
  EXPECT_TRUE(judge_accuracy("a", "s", {{one}, {one}, {exact}, {one}}).eager_deterministic);
}

}  // namespace
}  // namespace breakeven
