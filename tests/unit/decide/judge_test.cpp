#include "reports/decide/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace breakeven {
namespace {

Number figure(double value, double lo, double hi, const char* unit) {
  Number number = Number::given(value, unit, Origin::kMeasured);
  number.lo = lo;
  number.hi = hi;
  return number;
}

/// A baseline that meets the target with room.
ArmFacts eager() {
  ArmFacts facts;
  facts.arm = "eager";
  facts.processes = 5;
  facts.p99_ms = figure(40, 38, 42, "ms");
  facts.start_cold_p99_ms = figure(45, 40, 50, "ms");
  facts.start_warm_p99_ms = figure(45, 40, 50, "ms");
  facts.cold_start_ms = figure(1500, 1400, 1600, "ms");
  facts.warm_start_ms = figure(1450, 1400, 1500, "ms");
  return facts;
}

/// A compiled arm to which no rule objects.
ArmFacts good(const char* arm = "fused:dynamic") {
  ArmFacts facts = eager();
  facts.arm = arm;
  facts.speedup = figure(1.4, 1.3, 1.5, "ratio");
  facts.p99_ms = figure(30, 28, 33, "ms");
  facts.p99_ratio = figure(0.75, 0.7, 0.8, "ratio");
  facts.break_even_lost = figure(2000, 1800, 2200, "requests");
  facts.break_even_kept = figure(100, 80, 120, "requests");
  facts.fallback_share = figure(0, 0, 0, "share");
  facts.payback_days = figure(30, 25, 40, "days");
  return facts;
}

struct Situation {
  Policy policy;
  ArmFacts baseline = eager();
  ArmFacts arm = good();
  Conditions conditions{.requests_per_life = 1e6, .slo_p99_ms = 50};
};

struct Row {
  const char* name;
  std::function<void(Situation&)> edit;
  Verdict verdict;
  const char* rule;  ///< Must be among the reasons; "" when none is asked for.
  bool limited = false;
};

std::vector<Row> rows() {
  using S = Situation&;
  constexpr Verdict kEnable = Verdict::kEnable, kLimits = Verdict::kEnableWithLimits,
                    kEager = Verdict::kKeepEager, kUnsure = Verdict::kNotEnoughData,
                    kBlocked = Verdict::kBlocked;
  const auto none = [](const char* unit) {
    return Number::none(unit, "not enough data: 3 samples");
  };
  return {
      {"AllGood", [](S) {}, kEnable, "pays_back"},
      {"NoTargetRatioFine", [](S s) { s.conditions.slo_p99_ms = 0; }, kEnable, "pays_back"},
      {"NeverRestarted", [](S s) { s.conditions.requests_per_life.reset(); }, kEnable, "pays_back"},
      {"AccuracyFailed", [](S s) { s.arm.accuracy_failure = "x"; }, kBlocked, "accuracy_failed"},
      {"AccuracyFailedQuick",
       [](S s) {
         s.arm.accuracy_failure = "x";
         s.conditions.quick = true;
       },
       kBlocked, "accuracy_failed"},
      {"AccuracyFailedThoughSlow",
       [](S s) {
         s.arm.accuracy_failure = "x";
         s.arm.speedup = figure(0.5, 0.4, 0.6, "ratio");
       },
       kBlocked, "accuracy_failed"},
      {"AccuracyFailedInterrupted",
       [](S s) {
         s.arm.accuracy_failure = "x";
         s.conditions.interrupted = true;
       },
       kBlocked, "accuracy_failed"},
      {"AccuracyFailedBadBaseline",
       [](S s) {
         s.arm.accuracy_failure = "x";
         s.baseline.processes = 0;
       },
       kBlocked, "accuracy_failed"},
      {"AccuracyNotChecked", [](S s) { s.arm.accuracy_checked = false; }, kUnsure,
       "accuracy_not_checked"},
      {"ArmDidNotRun", [](S s) { s.arm.failure = "signal"; }, kEager, "arm_failed"},
      {"TooFewProcesses", [](S s) { s.arm.processes = 4; }, kUnsure, "not_enough_processes"},
      {"BaselineTooFewProcesses", [](S s) { s.baseline.processes = 4; }, kUnsure,
       "not_enough_processes"},
      {"PolicyAsksForFewer",
       [](S s) {
         s.arm.processes = s.baseline.processes = 3;
         s.policy.min_processes = 3;
       },
       kEnable, "pays_back"},
      {"GeneratorVoid", [](S s) { s.arm.generator_problem = "late"; }, kUnsure,
       "generator_invalid"},
      {"BaselineGeneratorVoid", [](S s) { s.baseline.generator_problem = "late"; }, kUnsure,
       "generator_invalid"},
      {"Unstable", [](S s) { s.arm.instability = "drift"; }, kUnsure, "unstable"},
      {"BaselineUnstable", [](S s) { s.baseline.instability = "drift"; }, kUnsure, "unstable"},
      {"Interrupted", [](S s) { s.conditions.interrupted = true; }, kUnsure, "interrupted"},
      {"RequestsFailed", [](S s) { s.arm.failed_share = 0.3; }, kEager, "requests_failed"},  // B114
      {"FailuresEqualInBoth", [](S s) { s.arm.failed_share = s.baseline.failed_share = 0.01; },
       kEnable, "pays_back"},
      {"SpeedupUnknown", [=](S s) { s.arm.speedup = none("ratio"); }, kUnsure, "speedup_unknown"},
      {"SpeedupBelowMinimum", [](S s) { s.arm.speedup = figure(1.02, 1.0, 1.04, "ratio"); }, kEager,
       "speedup_below_minimum"},
      {"Slower",
       [](S s) {
         s.arm.speedup = figure(0.8, 0.7, 0.9, "ratio");
         s.arm.never_lost = true;
         s.arm.never_kept = true;
       },
       kEager, "speedup_below_minimum"},
      {"SlowerOnAverageButTheIntervalStraddles",
       [](S s) { s.arm.speedup = figure(0.9, 0.05, 1.68, "ratio"); }, kUnsure, "speedup_uncertain"},
      {"SlowerButUnstable",
       [](S s) {
         s.arm.speedup = figure(0.8, 0.7, 0.9, "ratio");
         s.arm.instability = "drift";
       },
       kUnsure, "speedup_below_minimum"},
      {"SlowerButTooFewProcesses",
       [](S s) {
         s.arm.speedup = figure(0.8, 0.7, 0.9, "ratio");
         s.arm.processes = 4;
       },
       kUnsure, "not_enough_processes"},
      {"TailOverTargetButGeneratorVoid",
       [](S s) {
         s.arm.p99_ms = figure(60, 55, 65, "ms");
         s.arm.generator_problem = "late";
       },
       kUnsure, "p99_over_slo"},
      {"TailOverTargetItsIntervalHoldsIt", [](S s) { s.arm.p99_ms = figure(60, 45, 75, "ms"); },
       kUnsure, "p99_slo_uncertain"},
      {"BreakEvenTooLateItsIntervalHoldsTheLimit",
       [](S s) {
         s.conditions.requests_per_life = 19000;
         s.arm.break_even_lost = s.arm.break_even_kept = figure(20000, 10, 30000, "requests");
       },
       kUnsure, "break_even_uncertain"},
      {"NeverOnAverageButSomeResamplesPay",
       [](S s) {
         s.arm.break_even_lost = Number::none("requests", "never");
         s.arm.break_even_lost.lo = 500;
         s.arm.break_even_kept = s.arm.break_even_lost;
         s.arm.never_lost = s.arm.never_kept = true;
       },
       kUnsure, "break_even_uncertain"},
      {"ColdStartLongItsIntervalHoldsTheLimit",
       [](S s) {
         s.policy.max_cold_start_ms = 1450;
         s.arm.warm_start_ms = figure(1500, 1400, 1600, "ms");
       },
       kUnsure, "cold_start_uncertain"},
      {"PaybackLongItsIntervalHoldsTheLimit",
       [](S s) {
         s.policy.max_payback_days = 29;
         s.arm.payback_days = figure(30, 20, 40, "days");
       },
       kUnsure, "payback_uncertain"},
      {"NoEngineeringCostNothingToPayBack",
       [](S s) {
         s.policy.max_payback_days = 10;
         s.arm.payback_days = Number::none("days", "n/a");
       },
       kEnable, "pays_back"},
      {"SpeedupIntervalReachesBelow", [](S s) { s.arm.speedup = figure(1.2, 1.04, 1.4, "ratio"); },
       kUnsure, "speedup_uncertain"},
      {"SpeedupIntervalAtMinimum", [](S s) { s.arm.speedup = figure(1.2, 1.05, 1.4, "ratio"); },
       kEnable, "pays_back"},
      {"SpeedupWithoutInterval",
       [](S s) {
         s.arm.speedup.lo.reset();
         s.arm.speedup.hi.reset();
       },
       kUnsure, "speedup_uncertain"},
      {"ProcessesDisagree", [](S s) { s.arm.signs_agree = false; }, kUnsure, "processes_disagree"},
      {"TailUnknown", [=](S s) { s.arm.p99_ms = none("ms"); }, kUnsure, "p99_unknown"},
      {"BaselineTailUnknown", [=](S s) { s.baseline.p99_ms = none("ms"); }, kUnsure, "p99_unknown"},
      {"TailOverTarget", [](S s) { s.arm.p99_ms = figure(60, 55, 65, "ms"); }, kEager,
       "p99_over_slo"},
      {"TailIntervalOverTarget", [](S s) { s.arm.p99_ms = figure(48, 40, 56, "ms"); }, kUnsure,
       "p99_slo_uncertain"},
      {"HeadroomTakesPartOfTheTarget",
       [](S s) {
         s.policy.p99_headroom = 0.5;
         s.baseline.p99_ms = figure(20, 19, 21, "ms");
       },
       kEager, "p99_over_slo"},
      {"BothMissTarget", [](S s) { s.conditions.slo_p99_ms = 20; }, kLimits, "slo_missed_by_all",
       true},
      {"BaselineOverTargetIsAReason", [](S s) { s.conditions.slo_p99_ms = 20; }, kLimits,
       "baseline_over_slo", true},
      {"BothMissTargetAndTailWorse",
       [](S s) {
         s.conditions.slo_p99_ms = 20;
         s.arm.p99_ratio = figure(1.5, 1.2, 1.8, "ratio");
       },
       kEager, "p99_worse_than_baseline"},
      {"BaselineMissesArmMeets", [](S s) { s.baseline.p99_ms = figure(80, 70, 90, "ms"); }, kEnable,
       "baseline_over_slo"},
      {"NoTargetTailWorse",
       [](S s) {
         s.conditions.slo_p99_ms = 0;
         s.arm.p99_ratio = figure(1.5, 1.2, 1.8, "ratio");
       },
       kEager, "p99_worse_than_baseline"},
      {"NoTargetTailMaybeWorse",
       [](S s) {
         s.conditions.slo_p99_ms = 0;
         s.arm.p99_ratio = figure(1.1, 0.9, 1.3, "ratio");
       },
       kEnable, "pays_back"},
      {"BreakEvenTooLate", [](S s) { s.conditions.requests_per_life = 150; }, kEager,
       "break_even_too_late"},
      {"BreakEvenNeedsKeptCache", [](S s) { s.conditions.requests_per_life = 3000; }, kLimits,
       "break_even_needs_kept_cache", true},
      {"CacheSurvivesSoKeptGoverns",
       [](S s) {
         s.conditions.requests_per_life = 3000;
         s.conditions.cache_survives_restart = true;
       },
       kEnable, "pays_back"},
      {"NeverLostButKeptPays", [](S s) { s.arm.never_lost = true; }, kLimits,
       "break_even_needs_kept_cache", true},
      {"NeverBoth",
       [](S s) {
         s.arm.never_lost = s.arm.never_kept = true;
         s.arm.break_even_lost = s.arm.break_even_kept = Number::none("requests", "never");
       },
       kEager, "break_even_never"},
      {"BreakEvenUncertain",
       [](S s) {
         s.arm.break_even_lost = figure(2000, 1800, 6e5, "requests");
         s.arm.break_even_kept = s.arm.break_even_lost;
       },
       kUnsure, "break_even_uncertain"},
      {"BreakEvenOpenEnded",
       [](S s) {
         s.arm.break_even_lost.hi.reset();
         s.arm.break_even_kept.hi.reset();
       },
       kUnsure, "break_even_uncertain"},
      {"BreakEvenUnknown", [=](S s) { s.arm.break_even_lost = none("requests"); }, kUnsure,
       "break_even_unknown"},
      {"ColdStartTooLong", [](S s) { s.policy.max_cold_start_ms = 1000; }, kEager,
       "cold_start_too_long"},
      {"ColdStartTooLongWarmFine", [](S s) { s.policy.max_cold_start_ms = 1480; }, kLimits,
       "cold_start_too_long", true},
      {"StartTailOverTarget", [](S s) { s.arm.start_cold_p99_ms = figure(900, 800, 999, "ms"); },
       kLimits, "start_p99_over_slo", true},
      {"StartTailOfTheOtherRestartDoesNotCount",
       [](S s) { s.arm.start_warm_p99_ms = figure(900, 800, 999, "ms"); }, kEnable, "pays_back"},
      {"StartTailOverTargetInBoth",
       [](S s) {
         s.arm.start_cold_p99_ms = s.baseline.start_cold_p99_ms = figure(90, 80, 99, "ms");
       },
       kEnable, "pays_back"},
      {"ManyFallbacks", [](S s) { s.arm.fallback_share = Number::given(0.2, "share"); }, kLimits,
       "fallback_share_high", true},
      {"AllFallbacks", [](S s) { s.arm.fallback_share = Number::given(1, "share"); }, kEager,
       "runs_eagerly"},
      {"PaybackTooLong", [](S s) { s.policy.max_payback_days = 10; }, kEager, "payback_too_long"},
      {"PaybackInTime", [](S s) { s.policy.max_payback_days = 31; }, kEnable, "pays_back"},
      {"PaybackNever",
       [](S s) {
         s.policy.max_payback_days = 31;
         s.arm.payback_days = Number::none("days", "never");
         s.arm.payback_never = true;
       },
       kEager, "payback_too_long"},
      {"QuickNeverEnables",
       [](S s) {
         s.conditions.quick = true;
         s.arm.processes = s.baseline.processes = 2;
       },
       kUnsure, "pays_back"},
      {"QuickNeverEnablesWithLimits",
       [](S s) {
         s.conditions.quick = true;
         s.conditions.requests_per_life = 3000;
       },
       kUnsure, "break_even_needs_kept_cache"},
      {"QuickSlowerEverywhereKeepsEager",
       [](S s) {
         s.conditions.quick = true;
         s.arm.speedup = figure(0.7, 0.7, 0.7, "ratio");
         s.arm.all_slower = true;
       },
       kEager, "speedup_below_minimum"},
      {"QuickSlowerOnlyOnAverage",
       [](S s) {
         s.conditions.quick = true;
         s.arm.speedup = figure(0.99, 0.9, 1.1, "ratio");
       },
       kUnsure, "speedup_below_minimum"},
      {"QuickOneProcess",
       [](S s) {
         s.conditions.quick = true;
         s.arm.processes = 1;
       },
       kUnsure, "not_enough_processes"},
  };
}

TEST(Judge, Table) {
  std::size_t checked = 0;
  for (const Row& row : rows()) {
    Situation s;
    row.edit(s);
    const Judgement judgement = judge(s.policy, s.baseline, {s.arm}, s.conditions);
    EXPECT_EQ(judgement.verdict, row.verdict)
        << row.name << ": " << name_of(judgement.verdict) << ", first reason "
        << (judgement.reasons.empty() ? "none" : judgement.reasons[0].sentence);
    const bool has_rule = std::ranges::any_of(
        judgement.reasons, [&](const Reason& reason) { return reason.rule == row.rule; });
    EXPECT_TRUE(has_rule) << row.name << " lacks " << row.rule;
    EXPECT_EQ(!judgement.limits.empty(), row.limited) << row.name;
    EXPECT_EQ(judgement.arm, row.verdict == Verdict::kKeepEager ? "eager" : "fused:dynamic")
        << row.name;
    ++checked;
  }
  EXPECT_GE(checked, 40U);
}

TEST(Judge, PicksTheFasterOfTwoGoodArms) {
  Situation s;
  ArmFacts faster = good("fused:static");
  faster.speedup = figure(1.8, 1.7, 1.9, "ratio");
  const Judgement judgement = judge(s.policy, s.baseline, {s.arm, faster}, s.conditions);
  EXPECT_EQ(judgement.verdict, Verdict::kEnable);
  EXPECT_EQ(judgement.arm, "fused:static");
}

TEST(Judge, PrefersAnArmWithoutLimits) {
  Situation s;
  ArmFacts limited = good("fused:static");
  limited.speedup = figure(1.8, 1.7, 1.9, "ratio");
  limited.never_lost = true;
  const Judgement judgement = judge(s.policy, s.baseline, {limited, s.arm}, s.conditions);
  EXPECT_EQ(judgement.verdict, Verdict::kEnable);
  EXPECT_EQ(judgement.arm, "fused:dynamic");
}

TEST(Judge, OneWrongArmBlocksEvenWhenAnotherIsGood) {
  Situation s;
  ArmFacts wrong = good("fused:static");
  wrong.accuracy_failure = "length=7: error 1 against a limit of 0.1";
  const Judgement judgement = judge(s.policy, s.baseline, {s.arm, wrong}, s.conditions);
  EXPECT_EQ(judgement.verdict, Verdict::kBlocked);
  EXPECT_EQ(judgement.arm, "fused:static");
  EXPECT_NE(judgement.reasons[0].sentence.find("length=7"), std::string::npos);
}

TEST(Judge, WrongResultsAreTheFirstReasonWhateverElseIsWrong) {
  Situation s;
  s.baseline.processes = 1;
  s.baseline.p99_ms = figure(80, 70, 90, "ms");
  s.arm.accuracy_failure = "length=7: error 1 against a limit of 0.1";
  const Judgement judgement = judge(s.policy, s.baseline, {s.arm}, s.conditions);
  EXPECT_EQ(judgement.reasons.front().rule, "accuracy_failed");
}

TEST(Judge, NoCompiledArm) {
  Situation s;
  EXPECT_EQ(judge(s.policy, s.baseline, {}, s.conditions).verdict, Verdict::kKeepEager);
}

int rank(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEnable:
      return 3;
    case Verdict::kEnableWithLimits:
      return 2;
    case Verdict::kNotEnoughData:
      return 1;
    default:
      return 0;
  }
}

TEST(JudgeProperty, ShorterLivesNeverHelpACompiledArm) {
  for (const Row& row : rows()) {
    Situation s;
    row.edit(s);
    int last = 99;
    for (double life = 1e9; life > 1; life /= 3) {
      s.conditions.requests_per_life = life;
      const int now = rank(judge(s.policy, s.baseline, {s.arm}, s.conditions).verdict);
      EXPECT_LE(now, last) << row.name << " at " << life;
      last = now;
    }
  }
}

TEST(JudgeProperty, FasterNeverHurts) {
  for (const Row& row : rows()) {
    Situation s;
    row.edit(s);
    if (!s.arm.speedup.value || !s.arm.speedup.lo) continue;
    int last = -1;
    for (double speedup = 0.5; speedup < 4; speedup *= 1.1) {
      s.arm.speedup = figure(speedup, speedup * 0.98, speedup * 1.02, "ratio");
      const int now = rank(judge(s.policy, s.baseline, {s.arm}, s.conditions).verdict);
      EXPECT_GE(now, last) << row.name << " at " << speedup;
      last = now;
    }
  }
}

TEST(JudgeProperty, HigherPriceNeverMakesAFasterArmLessAttractive) {
  for (const Row& row : rows()) {
    Situation s;
    row.edit(s);
    s.policy.max_payback_days = 30;
    int last = -1;
    for (double price = 0.01; price < 100; price *= 2) {
      Situation at = s;
      if (at.arm.payback_days.value) *at.arm.payback_days.value /= price;
      const int now = rank(judge(at.policy, at.baseline, {at.arm}, at.conditions).verdict);
      EXPECT_GE(now, last) << row.name << " at " << price;
      last = now;
    }
  }
}

TEST(JudgeProperty, QuickNeverRecommends) {
  for (const Row& row : rows()) {
    Situation s;
    row.edit(s);
    s.conditions.quick = true;
    EXPECT_LE(rank(judge(s.policy, s.baseline, {s.arm}, s.conditions).verdict), 1) << row.name;
  }
}

TEST(JudgeProperty, EveryReasonIsASentenceThatNamesItsArm) {
  for (const Row& row : rows()) {
    Situation s;
    row.edit(s);
    for (const Reason& reason : judge(s.policy, s.baseline, {s.arm}, s.conditions).reasons) {
      EXPECT_FALSE(reason.rule.empty());
      const bool named =
          reason.sentence.starts_with("eager: ") || reason.sentence.starts_with("fused:dynamic: ");
      EXPECT_TRUE(named) << reason.sentence;
      EXPECT_EQ(reason.sentence.find("nan"), std::string::npos) << reason.sentence;
      EXPECT_EQ(reason.sentence.find("inf "), std::string::npos) << reason.sentence;
    }
  }
}

}  // namespace
}  // namespace breakeven
