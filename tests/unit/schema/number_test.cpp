#include "reports/schema/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace breakeven {
namespace {

TEST(Number, ZeroRatiosSayWhyAndAreNeverNan) {  // B124
  for (const double numerator : {0.0, 5.0}) {
    const Number number = Number::ratio(numerator, 0, "ratio");
    EXPECT_FALSE(number.value);
    EXPECT_NE(number.missing.find("zero"), std::string::npos);
  }
  const Number zero = Number::ratio(0, 5, "ratio");
  ASSERT_TRUE(zero.value);
  EXPECT_EQ(*zero.value, 0);
}

TEST(Number, KeepsFullPrecision) {  // B124: 0.004 must not become 0.00.
  EXPECT_EQ(*Number::ratio(0.004, 1, "ms").value, 0.004);
  EXPECT_EQ(*Number::ratio(1, 3, "ms").value, 1.0 / 3.0);
}

TEST(Number, NonFiniteBecomesNone) {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(Number::given(nan, "ms").value);
  EXPECT_FALSE(Number::given(inf, "ms").value);
  EXPECT_FALSE(Number::ratio(nan, 1, "ms").value);
  EXPECT_FALSE(Number::ratio(1, inf, "ms").value);
  EXPECT_FALSE(Number::given(inf, "ms").missing.empty());
}

TEST(Number, OriginNamesRoundTrip) {
  for (const Origin origin :
       {Origin::kMeasured, Origin::kModelled, Origin::kAssumed, Origin::kGiven}) {
    EXPECT_EQ(origin_of(name_of(origin)), origin);
  }
  EXPECT_FALSE(origin_of("guessed"));
}

}  // namespace
}  // namespace breakeven
