#include "harness/measure/trial.h"

#include <gtest/gtest.h>

#include <numeric>

#include "compiler/support/files.h"
#include "reports/schema/raw_samples.h"
#include "tests/unit/measure/fake_executor.h"
#include "tests/unit/scenario/scenario_files.h"

namespace breakeven {
namespace {

constexpr Nanos kMs = 1'000'000;

class TrialTest : public testing::Test {
 protected:
  TrialTest() {
    std::filesystem::create_directories(files_.path("raw"));
    spec_.scenario_file = files_.write("scenario.json", ScenarioFiles::text());
    spec_.arm = "scripted";
    spec_.raw_directory = files_.path("raw");
    spec_.measure.start_seconds = 0.3;
    spec_.measure.traffic_seconds = 0.5;
    spec_.measure.steady_requests = 5;
  }
  Results run(TrialKind kind, const std::function<std::unique_ptr<Executor>()>& make) {
    spec_.kind = kind;
    const Nanos now = now_ns();
    const ArmTable arms = {
        {"scripted", "fake", [&](const std::string&, const ExecutorContext&) { return make(); }}};
    return run_trial(spec_, arms, {}, {now - 30 * kMs, now - 10 * kMs});
  }
  ScenarioFiles files_;
  TrialSpec spec_;
};

// B132: time that no stage covers has a row of its own, and the rows add up to the wall.
TEST_F(TrialTest, StagesAddUpToTheFirstResult) {
  const Results results = run(TrialKind::kCold, [] {
    auto executor = std::make_unique<FakeExecutor>(
        [](int request) { return request == 0 ? compile_for(20 * kMs, 1) : serve_for(kMs); });
    executor->prepared.stages = {{"load", 3 * kMs}, {"import", 2 * kMs}};
    return executor;
  });
  const Trial& trial = results.trials.at(0);
  std::int64_t sum = 0;
  bool unattributed = false;
  for (const StageTime& stage : trial.stages) {
    sum += stage.ns;
    unattributed |= stage.name == "unattributed";
  }
  EXPECT_EQ(sum, *trial.first_result_ns);
  EXPECT_TRUE(unattributed);
  EXPECT_EQ(trial.stages[0].name, "process_start");
  EXPECT_EQ(trial.stages[0].ns, 20 * kMs);
  EXPECT_GE(*trial.first_result_ns, 50 * kMs);
  EXPECT_EQ(*trial.compiler_ns, 20 * kMs);
}

TEST_F(TrialTest, StartTrafficFollowsTheFirstResult) {
  const Results results = run(TrialKind::kCold, [] {
    return std::make_unique<FakeExecutor>([](int) { return serve_for(kMs); });
  });
  const Trial& trial = results.trials.at(0);
  EXPECT_TRUE(trial.ok);
  const std::vector<RawSample> samples =
      read_raw_samples(spec_.raw_directory.parent_path() / trial.raw_file, trial.raw_checksum);
  ASSERT_GE(samples.size(), 1u);
  EXPECT_NE(samples[0].flags & kSampleFirst, 0u);
  for (std::size_t i = 1; i < samples.size(); ++i) {
    EXPECT_GE(samples[i].due_ns, samples[0].done_ns);
    EXPECT_EQ(samples[i].flags & kSampleFirst, 0u);
  }
  EXPECT_EQ(trial.counters.at("requests"), static_cast<std::int64_t>(samples.size()));
}

TEST_F(TrialTest, OneWarmedProcessGivesSteadyAndTraffic) {
  const Results results = run(TrialKind::kWarmed, [] {
    return std::make_unique<FakeExecutor>([](int) { return serve_for(kMs); });
  });
  ASSERT_EQ(results.trials.size(), 2u);
  EXPECT_EQ(results.trials[0].phase, "steady");
  EXPECT_EQ(results.trials[0].counters.at("requests"), 5);
  EXPECT_EQ(results.trials[0].counters.at("warmup_shapes"), 1);
  EXPECT_EQ(results.trials[1].phase, "traffic");
  EXPECT_FALSE(results.trials[1].raw_file.empty());
}

TEST_F(TrialTest, ClosedLoopThatTakesTooLongIsVoid) {
  spec_.measure.steady_requests = 1000;
  spec_.measure.steady_cap_seconds = 0.05;
  const Results results = run(TrialKind::kWarmed, [] {
    return std::make_unique<FakeExecutor>([](int) { return serve_for(10 * kMs); });
  });
  EXPECT_FALSE(results.trials[0].ok);
  EXPECT_NE(results.trials[0].failure.find("of 1000 closed-loop requests"), std::string::npos);
}

TEST_F(TrialTest, ProcessThatKeepsCompilingIsNeverSteady) {
  spec_.measure.start_seconds = 6;
  const auto steady_after = [&](bool compiles) {
    const Results results = run(TrialKind::kCold, [&] {
      return std::make_unique<FakeExecutor>([compiles](int request) {
        return compiles && request % 5 == 0 ? compile_for(kMs, 1) : serve_for(kMs);
      });
    });
    return results.trials.at(0).steady_after_requests;
  };
  EXPECT_FALSE(steady_after(true).has_value());
}

TEST_F(TrialTest, FirstRequestThatFailsEndsTheTrial) {
  EXPECT_THROW(run(TrialKind::kCold,
                   [] {
                     return std::make_unique<FakeExecutor>([](int) -> RunOutcome {
                       throw UserError(Diagnostic{.message = "bad model"});
                     });
                   }),
               UserError);
}

TEST_F(TrialTest, ScenarioThatChangedDuringTheRunIsRefused) {
  spec_.scenario_hash = load_scenario(spec_.scenario_file).hash;
  const auto make = [] {
    return std::make_unique<FakeExecutor>([](int) { return serve_for(kMs); });
  };
  EXPECT_NO_THROW(run(TrialKind::kPriming, make));
  files_.write("scenario.json", ScenarioFiles::with("\"size\": 8", "\"size\": 9"));
  EXPECT_THROW(run(TrialKind::kPriming, make), UserError);
}

TEST_F(TrialTest, SpecSurvivesItsText) {
  spec_.kind = TrialKind::kWarmDisk;
  spec_.process = 3;
  spec_.steady_seed = (std::uint64_t{1} << 53) - 1;
  spec_.traffic_offset_s = 0.1;
  const TrialSpec read = parse_trial_spec(to_text(spec_), "spec");
  EXPECT_EQ(to_text(read), to_text(spec_));
  EXPECT_EQ(read.kind, TrialKind::kWarmDisk);
  EXPECT_EQ(read.steady_seed, spec_.steady_seed);
  EXPECT_THROW(parse_trial_spec("{}", "spec"), UserError);
  EXPECT_THROW(parse_trial_spec("no json", "spec"), UserError);
}

}  // namespace
}  // namespace breakeven
