#include <gtest/gtest.h>

#include <numeric>

#include "reports/stats/stats.h"

namespace breakeven {
namespace {

std::vector<double> range(int from, int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), from);
  return values;
}

TEST(RankTest, TooFewIsInsufficientAndSaysWhy) {  // B128
  const RankTest test = rank_test(range(0, 2), range(5, 2));
  EXPECT_FALSE(test.p_value);
  EXPECT_NE(test.reason.find("insufficient"), std::string::npos);
}

TEST(RankTest, ExactForSmallGroups) {
  // Fully separated 5 + 5: 2 of C(10, 5) = 252 arrangements are as extreme.
  EXPECT_NEAR(*rank_test(range(0, 5), range(10, 5)).p_value, 2.0 / 252, 1e-12);
  EXPECT_NEAR(*rank_test(range(0, 9), range(100, 9)).p_value, 2.0 / 48620, 1e-12);
}

TEST(RankTest, IdenticalAndTiedValues) {  // B128
  EXPECT_EQ(*rank_test(std::vector<double>(9, 1), std::vector<double>(9, 1)).p_value, 1);
  EXPECT_EQ(*rank_test(range(0, 9), range(0, 9)).p_value, 1);
  const std::vector<double> low = {1, 1, 1, 1, 2, 2, 2, 2, 2}, high = {2, 2, 2, 2, 3, 3, 3, 3, 3};
  EXPECT_LT(*rank_test(low, high).p_value, 0.01);
}

TEST(RankTest, NormalApproximationAgreesWithTheExactOne) {
  // 20 + 20 is exact, 21 + 21 approximate: the p-values of the same shift must nearly agree.
  const double exact = *rank_test(range(0, 20), range(5, 20)).p_value;
  const double approximate = *rank_test(range(0, 21), range(5, 21)).p_value;
  EXPECT_NEAR(exact, approximate, 0.01);
  EXPECT_GT(exact, 0.001);
}

}  // namespace
}  // namespace breakeven
