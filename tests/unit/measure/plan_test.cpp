#include "harness/measure/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace breakeven {
namespace {

TEST(Plan, StartsWithEachArmOnceAndComparesCompiledOnes) {
  const std::vector<PlannedTrial> plan = plan_trials({"eager", "fused:static"}, 1);
  ASSERT_EQ(plan.size(), 2u + 3 * 2);
  EXPECT_EQ(plan[0].kind, TrialKind::kPriming);
  EXPECT_EQ(plan[1].kind, TrialKind::kAccuracy);
}

TEST(Plan, ArmsOfPyTorchsOwnAreComparedWithEager) {
  for (const char* arm : {"torch-eager", "torch-compile:default", "torchscript", "aot-inductor"}) {
    EXPECT_TRUE(is_compared(arm)) << arm;
  }
  EXPECT_FALSE(is_compared("eager"));
  EXPECT_FALSE(is_compared("scripted"));
}

TEST(Plan, NoArmKeepsAPlace) {
  const std::vector<std::string> arms = {"a", "b", "c"};
  std::map<std::string, std::map<std::size_t, int>> places;
  const std::vector<PlannedTrial> plan = plan_trials(arms, 6);
  for (std::size_t i = 3; i < plan.size(); ++i) ++places[plan[i].arm][(i - 3) % 3];
  for (const auto& [arm, counts] : places) EXPECT_EQ(counts.size(), 3u) << arm;
  // Repetition 0 as given, repetition 1 rotated and reversed.
  EXPECT_EQ(plan[3].arm, "a");
  EXPECT_EQ(plan[3 + 9].arm, "a");
  EXPECT_EQ(plan[3 + 9 + 1].arm, "c");
}

TEST(Plan, ColdComesBeforeWhatNeedsItsCache) {
  const std::vector<PlannedTrial> plan = plan_trials({"a", "b"}, 3);
  const auto at = [&](TrialKind kind, const std::string& arm, int process) {
    return std::find_if(plan.begin(), plan.end(),
                        [&](const PlannedTrial& trial) {
                          return trial.kind == kind && trial.arm == arm && trial.process == process;
                        }) -
           plan.begin();
  };
  for (int process = 0; process < 3; ++process) {
    for (const std::string arm : {"a", "b"}) {
      EXPECT_LT(at(TrialKind::kCold, arm, process), at(TrialKind::kWarmDisk, arm, process));
      EXPECT_LT(at(TrialKind::kCold, arm, process), at(TrialKind::kWarmed, arm, process));
    }
  }
}

TEST(TimeEstimate, LearnsFromWhatWasTimed) {
  TimeEstimate estimate{MeasureSpec{}};
  const PlannedTrial a{"a", TrialKind::kCold, 0}, b{"b", TrialKind::kCold, 0};
  EXPECT_DOUBLE_EQ(estimate.seconds_of(a), 2 + MeasureSpec{}.start_seconds);
  estimate.add(a, 4);
  estimate.add(a, 6);
  EXPECT_DOUBLE_EQ(estimate.seconds_of(a), 5);
  EXPECT_DOUBLE_EQ(estimate.seconds_of(b), 5);
  EXPECT_NE(estimate.seconds_of({"a", TrialKind::kWarmed, 0}), 5);
}

}  // namespace
}  // namespace breakeven
