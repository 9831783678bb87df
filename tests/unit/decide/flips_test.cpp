#include "reports/decide/flips.h"

#include <gtest/gtest.h>

namespace breakeven {
namespace {

FlipSearch search(std::function<Verdict(double)> verdict_at) {
  return {.input = "restarts_per_day",
          .phrase = [](double v) { return std::to_string(v) + " restarts a day"; },
          .current = 2,
          .lo = 0.002,
          .hi = 2000,
          .verdict_at = std::move(verdict_at)};
}

TEST(Flips, FindsTheThresholdAbove) {
  const auto flips = find_flips(
      search([](double v) { return v > 123.4 ? Verdict::kKeepEager : Verdict::kEnable; }));
  ASSERT_EQ(flips.size(), 1U);
  EXPECT_NEAR(*flips[0].at, 123.4, 0.2);
  EXPECT_GT(*flips[0].at, 123.4);
  EXPECT_EQ(flips[0].becomes, Verdict::kKeepEager);
  EXPECT_NE(flips[0].sentence.find("or more"), std::string::npos);
}

TEST(Flips, FindsBothSides) {
  const auto flips = find_flips(search([](double v) {
    return v < 0.5 ? Verdict::kBlocked : v > 50 ? Verdict::kKeepEager : Verdict::kEnable;
  }));
  ASSERT_EQ(flips.size(), 2U);
  EXPECT_NEAR(*flips[0].at, 0.5, 0.001);
  EXPECT_NEAR(*flips[1].at, 50, 0.1);
}

TEST(Flips, TheNearestOfSeveral) {
  const auto flips = find_flips(search([](double v) {
    return v > 1000 ? Verdict::kBlocked : v > 10 ? Verdict::kKeepEager : Verdict::kEnable;
  }));
  ASSERT_EQ(flips.size(), 1U);
  EXPECT_NEAR(*flips[0].at, 10, 0.02);
}

TEST(Flips, NoneIsAnAnswerWithItsRange) {
  const auto flips = find_flips(search([](double) { return Verdict::kEnable; }));
  ASSERT_EQ(flips.size(), 1U);
  EXPECT_FALSE(flips[0].at);
  EXPECT_EQ(flips[0].searched_hi, 2000);
  EXPECT_NE(flips[0].sentence.find("Nothing from"), std::string::npos);
}

}  // namespace
}  // namespace breakeven
