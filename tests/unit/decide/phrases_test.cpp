#include "reports/decide/phrases.h"

#include <gtest/gtest.h>

namespace breakeven {
namespace {

TEST(Phrases, ThreeSignificantDigits) {
  EXPECT_EQ(short_figure(0), "0");
  EXPECT_EQ(short_figure(1.006), "1.01");
  EXPECT_EQ(short_figure(12.345), "12.3");
  EXPECT_EQ(short_figure(123.45), "123");
  EXPECT_EQ(short_figure(999.7), "1,000");
  EXPECT_EQ(short_figure(1234567), "1,234,567");
  EXPECT_EQ(short_figure(-1234.5), "-1,235");
  EXPECT_EQ(short_figure(0.00412), "0.00412");
  EXPECT_EQ(short_figure(0.004), "0.00400");  // B124: never rounded to 0.00.
}

TEST(Phrases, UnitsForPeople) {
  EXPECT_EQ(figure_with_unit(12.3, "ms"), "12.3 ms");
  EXPECT_EQ(figure_with_unit(0.0321, "ms"), "32.1 µs");
  EXPECT_EQ(figure_with_unit(0.0000321, "ms"), "32.1 ns");
  EXPECT_EQ(figure_with_unit(3, "days"), "3 days");
  EXPECT_EQ(figure_with_unit(12345, "ms"), "12.3 s");
  EXPECT_EQ(figure_with_unit(0.0412, "usd"), "$0.0412");
  EXPECT_EQ(figure_with_unit(-2, "usd"), "-$2.00");
  EXPECT_EQ(figure_with_unit(0.0412, "share"), "4.12 %");
  EXPECT_EQ(figure_with_unit(1.4, "ratio"), "1.40x");
  EXPECT_EQ(figure_with_unit(1126957, "requests"), "1.13 M requests");
  EXPECT_EQ(figure_with_unit(81, "requests"), "81 requests");
  EXPECT_EQ(figure_with_unit(2.3, ""), "2.3");
  EXPECT_EQ(figure_with_unit(0.000123, "usd"), "0.0123 cents");
  EXPECT_EQ(figure_with_unit(1, "requests"), "1 request");
  EXPECT_EQ(figure_with_unit(0.5, "minutes"), "30.0 s");
  EXPECT_EQ(figure_with_unit(180, "minutes"), "3.00 h");
  EXPECT_EQ(figure_with_unit(20, "1/s"), "20.0 per second");
}

TEST(Phrases, MissingSaysWhyAndIntervalsShowOpenEnds) {
  EXPECT_EQ(text_of(Number::none("ms", "not enough data: 3 samples")),
            "not enough data: 3 samples");
  EXPECT_EQ(text_of(Number{}), "not measured");
  Number number = Number::given(12, "ms");
  EXPECT_EQ(text_with_interval(number), "12.0 ms");
  number.lo = 10;
  EXPECT_EQ(text_with_interval(number), "12.0 ms (10.0 ms to no upper bound)");
  number.hi = 14;
  EXPECT_EQ(text_with_interval(number), "12.0 ms (10.0 to 14.0)");
}

TEST(Phrases, FiguresOfARowShareAUnit) {
  const Number small = Number::given(947, "ms"), large = Number::given(12345, "ms");
  const std::vector<const Number*> row = {&small, &large};
  EXPECT_EQ(text_of(small, row_scale(row)), "0.947 s");
  EXPECT_EQ(text_of(large, row_scale(row)), "12.3 s");
  const Number missing = Number::none("ms", "n/a");
  EXPECT_EQ(text_of(missing, row_scale(row)), "n/a");
  const Number few = Number::given(30, "requests"), many = Number::given(2e6, "requests");
  const std::vector<const Number*> counts = {&few, &many};
  EXPECT_EQ(text_of(few, row_scale(counts)), "30 requests");
  Number wide = Number::given(9000, "ms");
  wide.lo = 50;
  wide.hi = 11000;
  EXPECT_EQ(text_with_interval(wide), "9,000 ms (50.0 to 11,000)");
}

}  // namespace
}  // namespace breakeven
