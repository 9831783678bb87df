#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "reports/decide/decision.h"
#include "tests/support/synthetic_results.h"

namespace breakeven {
namespace {

using testing::SyntheticOptions;

SyntheticOptions small() {
  SyntheticOptions options;
  options.arms = testing::default_arms();
  options.rate_per_s = 30;
  options.traffic_seconds = 8;
  options.steady_requests = 150;
  options.cold_requests = 120;
  options.shapes = 12;
  return options;
}

Decision decide_on(const SyntheticOptions& options) {
  const TempDir dir;
  return decide(testing::make_synthetic(options, dir.path()), dir.path());
}

TEST(Decide, ClearGainEnables) {
  const Decision decision = decide_on(small());
  EXPECT_EQ(decision.verdict, Verdict::kEnable) << decision.headline;
  EXPECT_NE(decision.arm, "eager");
  EXPECT_FALSE(decision.flips.empty());
  ASSERT_EQ(decision.arms.size(), 3U);
  EXPECT_NEAR(*decision.arms[1].speedup.value, 12 / 8.5, 0.05);
  EXPECT_TRUE(decision.arms[1].speedup.lo);
}

TEST(Decide, TheSameStreamInBothArmsNarrowsTheSpeedup) {
  const Number speedup = decide_on(small()).arms[1].speedup;
  // Shapes spread service by a factor of four; paired, that spread cancels.
  EXPECT_LT((*speedup.hi - *speedup.lo) / *speedup.value, 0.05);
}

TEST(Decide, AgainstItselfNeverEnables) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SyntheticOptions options = small();
    options.seed = seed;
    options.arms = {testing::default_arms()[0], testing::default_arms()[0]};
    options.arms[1].name = "eager-again";
    const Decision decision = decide_on(options);
    EXPECT_NE(decision.verdict, Verdict::kEnable) << seed;
    EXPECT_NE(decision.verdict, Verdict::kEnableWithLimits) << seed;
  }
}

TEST(Decide, BreakEvenMatchesTheClosedForm) {
  SyntheticOptions options = small();
  options.arms = {options.arms[0], options.arms[2]};  // No recompiles: N = C0 / gain.
  const Decision decision = decide_on(options);
  const BreakEvenSummary& costs = decision.arms[1].cache_lost;
  const double expected =
      std::ceil(*costs.start_penalty_ms.value / *costs.saving_per_request_ms.value);
  EXPECT_EQ(*costs.requests.value, expected);
  EXPECT_NEAR(*costs.start_penalty_ms.value, 1000, 1);
  EXPECT_LT(*costs.requests.lo, expected);
  EXPECT_GT(*costs.requests.hi, expected);
  EXPECT_NEAR(*costs.minutes.value, expected / 30 / 60, 1e-9);
}

TEST(Decide, SlowerArmNeverPaysBack) {
  SyntheticOptions options = small();
  options.arms[1].mean_service_ms = options.arms[2].mean_service_ms = 15;
  const Decision decision = decide_on(options);
  EXPECT_EQ(decision.verdict, Verdict::kKeepEager);
  EXPECT_EQ(decision.arm, "eager");
  EXPECT_FALSE(decision.arms[1].cache_lost.requests.value);
  EXPECT_TRUE(decision.arms[1].cache_lost.never);
  EXPECT_NE(decision.arms[1].cache_lost.requests.missing.find("never"), std::string::npos);
}

TEST(Decide, WrongResultsBlock) {
  SyntheticOptions options = small();
  options.arms[2].accuracy_ratio = 2;
  EXPECT_EQ(decide_on(options).verdict, Verdict::kBlocked);
  options.quick = true;
  options.processes = 2;
  EXPECT_EQ(decide_on(options).verdict, Verdict::kBlocked);
}

TEST(Decide, StricterPolicyBlocksWhatTheRuleLetsPass) {
  SyntheticOptions options = small();  // Errors are at 0.4 of their limit.
  options.policy_json = R"({"policy": 1, "max_accuracy_ratio": 0.3})";
  EXPECT_EQ(decide_on(options).verdict, Verdict::kBlocked);
}

TEST(Decide, QuickHasNoIntervalAndSaysWhatIsLeftToShow) {
  SyntheticOptions options = small();
  options.quick = true;
  options.processes = 2;
  options.traffic_seconds = 15;
  const Decision decision = decide_on(options);
  EXPECT_EQ(decision.verdict, Verdict::kNotEnoughData);
  EXPECT_FALSE(decision.next.empty());
  EXPECT_TRUE(decision.flips.empty());
  for (const ArmSummary& arm : decision.arms) {
    EXPECT_FALSE(arm.p99_ms.lo || arm.speedup.lo || arm.mean_service_ms.hi ||
                 arm.cold_start_ms.lo || arm.cache_lost.requests.lo);
  }
}

TEST(Decide, MoreRestartsNeverHelp) {
  SyntheticOptions options = small();
  int last = 99;
  for (const double restarts : {0.1, 10.0, 1000.0, 10000.0, 100000.0}) {
    options.restarts_per_day = restarts;
    const Verdict verdict = decide_on(options).verdict;
    const int rank = verdict == Verdict::kEnable             ? 3
                     : verdict == Verdict::kEnableWithLimits ? 2
                     : verdict == Verdict::kNotEnoughData    ? 1
                                                             : 0;
    EXPECT_LE(rank, last) << restarts;
    last = rank;
  }
  EXPECT_EQ(last, 0);
}

TEST(Decide, FlipsHold) {
  SyntheticOptions options = small();
  const Decision decision = decide_on(options);
  for (const Flip& flip : decision.flips) {
    if (flip.input != "restarts_per_day" || !flip.at) continue;
    options.restarts_per_day = *flip.at * 1.01;
    EXPECT_EQ(decide_on(options).verdict, flip.becomes);
    options.restarts_per_day = *flip.at * 0.98;
    EXPECT_EQ(decide_on(options).verdict, decision.verdict);
  }
}

TEST(Decide, SplitAddsUpAndStagesSumToTheStart) {
  const Decision decision = decide_on(small());
  for (const ArmSummary& arm : decision.arms) {
    double sum = 0;
    for (const SplitPart& part : arm.p99_split) sum += *part.share.value;
    EXPECT_NEAR(sum, 1, 1e-9);
    std::int64_t stages = 0;
    for (const StageTime& stage : arm.cold_stages) stages += stage.ns;
    EXPECT_NEAR(static_cast<double>(stages) * 1e-6, *arm.cold_start_ms.value, 1e-3);
  }
}

TEST(Decide, FailedTrialsAreNotCounted) {
  const TempDir dir;
  Results results = testing::make_synthetic(small(), dir.path());
  for (Trial& trial : results.trials) {
    if (trial.arm != "fused:static" || trial.phase != "traffic" || trial.process > 1) continue;
    trial.ok = false;
    trial.failure = "timed out after 300 s";
  }
  const Decision decision = decide(results, dir.path());
  EXPECT_NE(decision.arm, "fused:static");
  EXPECT_NE(decision.arms[1].warnings[0].find("timed out"), std::string::npos);
}

TEST(Decide, TooFewSamplesGiveNoP99) {
  SyntheticOptions options = small();
  options.traffic_seconds = 4;  // 5 x 120 < 662.
  const Decision decision = decide_on(options);
  EXPECT_EQ(decision.verdict, Verdict::kNotEnoughData);
  EXPECT_FALSE(decision.arms[0].p99_ms.value);
  EXPECT_NE(decision.arms[0].p99_ms.missing.find("662"), std::string::npos);
}

TEST(Decide, MissingAndForeignRawFilesAreErrors) {
  const TempDir dir;
  Results results = testing::make_synthetic(small(), dir.path());
  std::filesystem::remove(dir.path() / results.trials[3].raw_file);
  EXPECT_THROW((void)decide(results, dir.path()), UserError);
  Results other = testing::make_synthetic(small(), dir.path());
  other.trials[2].shapes.resize(1);
  EXPECT_THROW((void)decide(other, dir.path()), UserError);
}

// The page shows both arms' starts; the break-even must stand on the same figures.
TEST(Decide, TheStartsPenaltyIsTheDifferenceOfTheStartsShown) {
  const TempDir dir;
  Results results = testing::make_synthetic(small(), dir.path());
  const std::array<std::int64_t, 5> late_ms = {0, 40, 0, 900, 0};
  for (Trial& trial : results.trials) {
    if (trial.arm != "eager" || trial.phase != "cold") continue;
    *trial.first_result_ns += late_ms.at(static_cast<std::size_t>(trial.process)) * 1'000'000;
  }
  const Decision decision = decide(results, dir.path());
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_NEAR(*decision.arms[i].cache_lost.start_penalty_ms.value,
                *decision.arms[i].cold_start_ms.value - *decision.arms[0].cold_start_ms.value,
                1e-6);
  }
}

TEST(Decide, AChartShowsNoQuantileThatItsSamplesCannotBear) {
  SyntheticOptions options = small();
  options.traffic_seconds = 4;  // 5 x 120 requests: a p98.5, no p99.
  for (const ArmSummary& arm : decide_on(options).arms) {
    ASSERT_FALSE(arm.latency_quantiles.empty());
    EXPECT_GE(arm.latency_quantiles.front().first, 0.01);
    EXPECT_LT(arm.latency_quantiles.back().first, 0.99);
    EXPECT_GT(arm.latency_quantiles.back().first, 0.95);
  }
}

TEST(Decide, MoneyIsWithheldWhereTheSavingIsInDoubt) {
  SyntheticOptions same = small();
  same.arms = {testing::default_arms()[0], testing::default_arms()[0]};
  same.arms[1].name = "eager-again";
  SyntheticOptions quick = small();
  quick.quick = true;
  const TempDir dir;
  Results late = testing::make_synthetic(small(), dir.path());
  for (Trial& trial : late.trials) {
    if (trial.phase != "traffic") continue;
    trial.generator.emplace();
    trial.generator->valid = false;
    trial.generator->reason = "late";
  }
  for (const Decision& decision : {decide_on(same), decide_on(quick), decide(late, dir.path())}) {
    for (const BreakEvenSummary* costs :
         {&decision.arms[1].cache_lost, &decision.arms[1].cache_kept}) {
      EXPECT_FALSE(costs->saving_per_life_usd.value);
      EXPECT_NE(costs->saving_per_life_usd.missing.find("withheld"), std::string::npos)
          << costs->saving_per_life_usd.missing;
    }
  }
  EXPECT_TRUE(decide_on(small()).arms[1].cache_lost.saving_per_life_usd.value);
}

TEST(Decide, TheBestArmLeadsAlsoWhenEagerIsKept) {
  SyntheticOptions options = small();
  options.arms[1].mean_service_ms = 19;
  options.arms[2].mean_service_ms = 15;
  const Decision decision = decide_on(options);
  EXPECT_EQ(decision.verdict, Verdict::kKeepEager);
  EXPECT_EQ(decision.best_arm, "fused:dynamic");
}

TEST(Decide, AFullRunIsAdvisedIntoADirectoryOfItsOwn) {
  const TempDir dir;
  SyntheticOptions options = small();
  options.quick = true;
  Results results = testing::make_synthetic(options, dir.path());
  const auto advice = [&](const std::string& command) {
    results.command = command;
    return decide(results, dir.path()).next.front();
  };
  EXPECT_EQ(advice("./breakeven run a.json -o out/q --quick"),
            "Run without --quick: ./breakeven run a.json -o out/q-full");
  EXPECT_EQ(advice("bin/breakeven run --quick a.json --out 'my runs/'"),
            "Run without --quick: bin/breakeven run a.json --out 'my runs-full'");
  EXPECT_EQ(advice("breakeven run a.json"), "Run without --quick: breakeven run a.json");
}

TEST(Decide, AFallbackCompilerIsSaid) {
  const TempDir dir;
  Results results = testing::make_synthetic(small(), dir.path());
  const auto said = [&] {
    const std::vector<std::string> notes = decide(results, dir.path()).notes;
    return std::ranges::any_of(notes, [](const std::string& note) {
      return note.find("no LLVM here") != std::string::npos;
    });
  };
  EXPECT_FALSE(said());
  results.environment["compiler_fallback"] = "no LLVM here";
  EXPECT_TRUE(said());
}

TEST(Decide, BareResultsGiveNotEnoughData) {
  Results results;
  results.arms = {"eager", "fused:dynamic"};
  const Decision decision = decide(results, ".");
  EXPECT_EQ(decision.verdict, Verdict::kNotEnoughData);
  for (const ArmSummary& arm : decision.arms) {
    EXPECT_FALSE(arm.usable);
    EXPECT_FALSE(arm.p99_ms.missing.empty());
  }
}

TEST(Decide, SameInputSameDecision) {
  const Decision a = decide_on(small()), b = decide_on(small());
  EXPECT_EQ(*a.arms[1].cache_lost.requests.hi, *b.arms[1].cache_lost.requests.hi);
  EXPECT_EQ(*a.arms[1].p99_ratio.lo, *b.arms[1].p99_ratio.lo);
  EXPECT_EQ(a.headline, b.headline);
}

}  // namespace
}  // namespace breakeven
