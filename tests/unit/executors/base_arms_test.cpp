#include <gtest/gtest.h>

#include "compiler/support/error.h"
#include "harness/executors/executor.h"

namespace breakeven {
namespace {

constexpr Nanos kMs = 1'000'000;

class BaseArms : public testing::Test {
 protected:
  BaseArms() {
    scenario_.dims = {{"batch", 1, 4}, {"length", 1, 64}};
    scenario_.inputs = {{"x", DType::kF32, {"batch", "8", "length"}, 0, 1}};
  }
  std::unique_ptr<Executor> make(const std::string& arm) {
    return find_arm(arms_, arm)->make(arm, {.scenario = &scenario_});
  }
  static std::vector<HostTensor> request(std::int64_t batch, std::int64_t length) {
    return {HostTensor::zeros(DType::kF32, {batch, 8, length})};
  }
  static Nanos timed(Executor& executor, const std::vector<HostTensor>& inputs) {
    const Nanos start = now_ns();
    executor.run(inputs);
    return now_ns() - start;
  }

  Scenario scenario_;
  ArmTable arms_ = base_arms();
};

TEST_F(BaseArms, AreFoundByTheirWholeName) {
  EXPECT_NE(find_arm(arms_, "null"), nullptr);
  EXPECT_NE(find_arm(arms_, "scripted"), nullptr);
  EXPECT_EQ(find_arm(arms_, "nul"), nullptr);
  EXPECT_EQ(find_arm(arms_, "scripted:x"), nullptr);
  EXPECT_EQ(find_arm(arms_, ""), nullptr);
}

TEST_F(BaseArms, NullTakesNoTime) {
  const auto executor = make("null");
  executor->prepare();
  const auto inputs = request(1, 1);
  const Nanos start = now_ns();
  for (int i = 0; i < 10000; ++i) executor->run(inputs);
  EXPECT_LT((now_ns() - start) / 10000, 1000);  // METHOD's bound on the harness's own time.
}

TEST_F(BaseArms, ScriptedNeedsAScript) { EXPECT_THROW(make("scripted"), UserError); }

TEST_F(BaseArms, ScriptedServesInItsTime) {
  scenario_.model.script = ScriptSpec{.service_ms = 4};
  const auto executor = make("scripted");
  for (int i = 0; i < 3; ++i) {
    const Nanos taken = timed(*executor, request(1, 1));
    EXPECT_GE(taken, 4 * kMs);
    EXPECT_LT(taken, 40 * kMs);
  }
}

TEST_F(BaseArms, ScriptedStallsOnTheFirstRequestOfAShape) {
  scenario_.model.script = ScriptSpec{.service_ms = 1, .first_shape_stall_ms = 30};
  const auto executor = make("scripted");
  const RunOutcome first = executor->run(request(1, 7));
  ASSERT_EQ(first.compiles.size(), 1u);
  EXPECT_EQ(first.compiles[0].trigger, CompileTrigger::kFirst);
  EXPECT_EQ(first.compiles[0].shape, "batch=1 length=7");
  EXPECT_EQ(first.compiles[0].duration, 30 * kMs);
  EXPECT_TRUE(executor->run(request(1, 7)).compiles.empty());
  const Nanos start = now_ns();
  const RunOutcome other = executor->run(request(2, 7));
  EXPECT_GE(now_ns() - start, 31 * kMs);
  ASSERT_EQ(other.compiles.size(), 1u);
  EXPECT_EQ(other.compiles[0].trigger, CompileTrigger::kRecompile);
  EXPECT_EQ(executor->counters().at("requests"), 3);
  EXPECT_EQ(executor->counters().at("recompiles"), 1);
}

TEST_F(BaseArms, ScriptedFreezesFromTheFirstRequestOn) {
  scenario_.model.script = ScriptSpec{.service_ms = 1, .stalls = {{0.03, 0.06}}};
  const auto executor = make("scripted");
  const Nanos start = now_ns();
  executor->run(request(1, 1));
  EXPECT_LT(now_ns() - start, 30 * kMs);
  wait_until(start + 50 * kMs);  // Inside the freeze, which ends at 90 ms.
  executor->run(request(1, 1));
  EXPECT_GE(now_ns() - start, 90 * kMs);
  EXPECT_LT(timed(*executor, request(1, 1)), 30 * kMs);
}

}  // namespace
}  // namespace breakeven
