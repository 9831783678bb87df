#include "reports/model/break_even.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reports/stats/stats.h"

namespace breakeven {
namespace {

BreakEvenInputs flat(double gain, double start) {
  return {.saving_per_request_s = gain, .start_penalty_s = start};
}

/// The definition, term by term with pow.
double saving_by_definition(const BreakEvenInputs& in, double n) {
  double s = n * in.saving_per_request_s - in.start_penalty_s;
  for (std::size_t i = 0; i < in.probability.size(); ++i) {
    s -= in.compile_s[i] * (1 - std::pow(1 - in.probability[i], n));
  }
  return s;
}

/// Last N below zero plus one, by trying every N up to `most`.
std::optional<double> brute_force(const BreakEvenInputs& in, int most) {
  int last_bad = -1;
  for (int n = 0; n <= most; ++n) {
    if (saving_by_definition(in, n) < -1e-12) last_bad = n;
  }
  if (last_bad == most) return std::nullopt;
  return last_bad + 1;
}

TEST(BreakEven, ClosedFormWithoutShapes) {
  EXPECT_EQ(break_even_requests(flat(0.002, 3.0)), 1500);
  EXPECT_EQ(break_even_requests(flat(0.003, 1.0)), 334);
  EXPECT_EQ(break_even_requests(flat(1, 0)), 0);
  EXPECT_EQ(break_even_requests(flat(1, -5)), 0);
}

TEST(BreakEven, NeverIsAnAnswer) {
  EXPECT_FALSE(break_even_requests(flat(-0.001, 1)));
  EXPECT_FALSE(break_even_requests(flat(-0.001, -100)));  // A head start is used up in the end.
  EXPECT_FALSE(break_even_requests(flat(0, 1)));
  EXPECT_FALSE(break_even_requests(flat(1e-18, 1e3)));  // Past 1e15 requests.
  EXPECT_EQ(break_even_requests(flat(0, 0)), 0);
}

TEST(BreakEven, OneCertainShapeIsPaidOnTheFirstRequest) {
  const BreakEvenInputs in{
      .saving_per_request_s = 0.5, .start_penalty_s = 0, .probability = {1}, .compile_s = {2}};
  EXPECT_EQ(saving_after(in, 0), 0);
  EXPECT_EQ(saving_after(in, 1), 0.5 - 2);
  EXPECT_EQ(break_even_requests(in), 4);
}

TEST(BreakEven, TwoShapesClosedForm) {
  const BreakEvenInputs in{.saving_per_request_s = 0.01,
                           .start_penalty_s = 1,
                           .probability = {0.5, 0.5},
                           .compile_s = {1, 2}};
  EXPECT_NEAR(saving_after(in, 1), 0.01 - 1 - 1.5, 1e-12);
  EXPECT_NEAR(saving_after(in, 2), 0.02 - 1 - 3 * 0.75, 1e-12);
  EXPECT_EQ(break_even_requests(in), 400);
}

TEST(BreakEven, EarlySavingThatLaterShapesEatIsNotBreakEven) {
  // A head start makes S positive at first; the stalls pull it under zero before the gain wins.
  const BreakEvenInputs in{.saving_per_request_s = 0.01,
                           .start_penalty_s = -1,
                           .probability = {0.9, 0.05, 0.05},
                           .compile_s = {0, 20, 20}};
  EXPECT_GT(saving_by_definition(in, 0), 0);
  const auto found = break_even_requests(in);
  ASSERT_TRUE(found);
  EXPECT_GT(*found, 3000);
  EXPECT_EQ(found, brute_force(in, 20000));
}

TEST(BreakEven, AgreesWithBruteForceOnRandomInputs) {
  Random random(11);
  int finite = 0;
  for (int run = 0; run < 80; ++run) {
    BreakEvenInputs in;
    in.saving_per_request_s = 0.05 * random.uniform() - 0.01;
    in.start_penalty_s = 6 * random.uniform() - 2;
    const std::uint32_t shapes = random.below(40);
    double left = 1;
    for (std::uint32_t s = 0; s < shapes; ++s) {
      const double p = left * random.uniform() * 0.5;
      left -= p;
      in.probability.push_back(p);
      in.compile_s.push_back(random.uniform() * (random.below(3) == 0 ? 3 : 0.05));
    }
    const auto expected = brute_force(in, 15000);
    const auto found = break_even_requests(in);
    if (expected) {
      ASSERT_TRUE(found) << run;
      EXPECT_NEAR(*found, *expected, 1) << run;
      ++finite;
    } else if (found) {
      EXPECT_GT(*found, 15000) << run;
    }
  }
  EXPECT_GT(finite, 20);
}

TEST(BreakEven, HundredsOfRareShapesKeepPrecision) {
  BreakEvenInputs in{.saving_per_request_s = 1e-3, .start_penalty_s = 0};
  for (int i = 0; i < 3000; ++i) {
    in.probability.push_back(1e-9);
    in.compile_s.push_back(0.1);
  }
  // 1 - (1 - p)^N is N p here; pow would lose it. S(N) = N (1e-3 - 3000 * 1e-10).
  EXPECT_NEAR(saving_after(in, 1000), 1 - 1000 * 3000 * 1e-10, 1e-9);
  EXPECT_EQ(break_even_requests(in), 0);
}

TEST(BreakEven, MoreGainNeverBreaksEvenLater) {
  Random random(12);
  for (int run = 0; run < 200; ++run) {
    BreakEvenInputs in{.saving_per_request_s = 0.001 + 0.01 * random.uniform(),
                       .start_penalty_s = 5 * random.uniform(),
                       .probability = {0.5, 0.3, 0.2 * random.uniform()},
                       .compile_s = {random.uniform(), random.uniform(), 5 * random.uniform()}};
    const auto before = break_even_requests(in);
    in.saving_per_request_s *= 1.5;
    EXPECT_LE(*break_even_requests(in), *before);
    in.start_penalty_s += 1;
    EXPECT_GE(*break_even_requests(in),
              *break_even_requests({.saving_per_request_s = in.saving_per_request_s,
                                    .start_penalty_s = in.start_penalty_s - 1,
                                    .probability = in.probability,
                                    .compile_s = in.compile_s}));
  }
}

TEST(RequestsPerLife, RateOverRestarts) {
  EXPECT_NEAR(*requests_per_life(30, 2.3), 1126956.5, 0.1);
  EXPECT_FALSE(requests_per_life(30, 0));
  EXPECT_FALSE(requests_per_life(0, 1));
}

TEST(DistinctShapes, Expected) {
  const std::vector<double> half = {0.5, 0.5};
  EXPECT_NEAR(expected_distinct_shapes(half, 1), 1, 1e-12);
  EXPECT_NEAR(expected_distinct_shapes(half, 1000), 2, 1e-12);
}

}  // namespace
}  // namespace breakeven
