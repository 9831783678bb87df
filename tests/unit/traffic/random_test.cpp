#include "harness/traffic/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace breakeven {
namespace {

TEST(PortableMath, AgreesWithTheLibrary) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    EXPECT_NEAR(portable_log(x), std::log(x), 4e-16 * std::max(1.0, std::fabs(std::log(x))));
  }
  for (double x = -600; x < 600; x += 0.37) {
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-13) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_exp(0), 1);
}

TEST(TrafficRandom, StreamsDifferByPurpose) {
  TrafficRandom a(7, "arrivals"), again(7, "arrivals"), b(7, "shapes");
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, again.next());
  EXPECT_NE(first, b.next());
}

TEST(TrafficRandom, BelowIsInRangeAndEven) {
  TrafficRandom random(1, "below");
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts.at(random.below(7));
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

struct Moments {
  double mean = 0, deviation = 0;
};
template <typename Draw>
Moments moments(int count, Draw draw) {
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double value = draw();
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean)};
}

TEST(TrafficRandom, NormalAndExponentialHaveTheirMoments) {
  TrafficRandom random(3, "moments");
  const Moments normal = moments(400'000, [&] { return random.normal(); });
  EXPECT_NEAR(normal.mean, 0, 0.01);
  EXPECT_NEAR(normal.deviation, 1, 0.01);
  const Moments exponential = moments(400'000, [&] { return random.exponential(); });
  EXPECT_NEAR(exponential.mean, 1, 0.01);
  EXPECT_NEAR(exponential.deviation, 1, 0.02);
}

TEST(TrafficRandom, GammaHasItsMomentsBelowAndAboveOne) {
  for (const double shape : {0.077, 0.25, 1.0, 4.0, 30.0}) {
    TrafficRandom random(11, "gamma");
    const Moments gamma = moments(1'000'000, [&] { return random.gamma(shape); });
    EXPECT_NEAR(gamma.mean / shape, 1, 0.02) << shape;
    EXPECT_NEAR(gamma.deviation / std::sqrt(shape), 1, 0.03) << shape;
  }
}

}  // namespace
}  // namespace breakeven
