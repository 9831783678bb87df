#include "harness/measure/resume.h"

#include <gtest/gtest.h>

#include "compiler/support/error.h"

namespace breakeven {
namespace {

Trial trial(const std::string& phase, int process, bool ok = true) {
  Trial made;
  made.arm = "a";
  made.phase = phase;
  made.process = process;
  made.ok = ok;
  return made;
}

std::vector<std::string> kept(std::vector<Trial> trials, bool has_cache, bool has_samples = true) {
  Results results;
  results.trials = std::move(trials);
  keep_complete_trials(
      results, [&](const std::string&, int) { return has_cache; },
      [&](const Trial& one) { return has_samples || one.raw_file != "bad"; });
  std::vector<std::string> phases;
  for (const Trial& one : results.trials) phases.push_back(one.phase);
  return phases;
}

using Phases = std::vector<std::string>;

TEST(Resume, KeepsWholeRepetitionsWithoutTheirCache) {
  EXPECT_EQ(kept({trial("cold", 0), trial("warm_disk", 0), trial("steady", 0), trial("traffic", 0)},
                 false),
            (Phases{"cold", "warm_disk", "steady", "traffic"}));
}

TEST(Resume, PartOfARepetitionNeedsItsCache) {
  EXPECT_EQ(kept({trial("cold", 0), trial("warm_disk", 0)}, true), (Phases{"cold", "warm_disk"}));
  EXPECT_EQ(kept({trial("cold", 0), trial("warm_disk", 0)}, false), Phases{});
  EXPECT_EQ(kept({trial("warm_disk", 0)}, true), Phases{});
}

TEST(Resume, FailedTrialsAreDoneAgain) {
  EXPECT_EQ(kept({trial("priming", 0), trial("cold", 0, false)}, true), (Phases{"priming"}));
}

TEST(Resume, TrialsWithoutTheirSamplesAreDoneAgain) {
  std::vector<Trial> trials = {trial("cold", 0), trial("warm_disk", 0), trial("steady", 0),
                               trial("traffic", 0)};
  trials[3].raw_file = "bad";
  EXPECT_EQ(kept(trials, true, false), (Phases{"cold", "warm_disk"}));
  EXPECT_EQ(kept(trials, true, true).size(), 4u);
}

TEST(Resume, AQuickRunAndAFullOneAreNotJoined) {
  Results quick, full;
  quick.quick = true;
  const auto said = [](const Results& earlier, const Results& now) -> std::string {
    try {
      check_same_run(earlier, now, "r.json");
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(said(quick, full).find("Add --quick"), std::string::npos);
  EXPECT_NE(said(full, quick).find("Leave out --quick"), std::string::npos);
}

TEST(Resume, HalfAWarmedProcessIsDoneAgain) {
  EXPECT_EQ(kept({trial("cold", 0), trial("steady", 0), trial("traffic", 0, false)}, true),
            (Phases{"cold"}));
}

TEST(Resume, AnotherRunIsRefusedByWhatDiffers) {
  Results earlier, now;
  earlier.scenario_hash = now.scenario_hash = "s";
  earlier.binary_hash = now.binary_hash = "b";
  earlier.environment = now.environment = {{"cpu", "c"}, {"model_hash", "m"}, {"torch", "t"}};
  EXPECT_NO_THROW(check_same_run(earlier, now, "r.json"));
  for (const char* key : {"cpu", "model_hash", "torch"}) {
    Results other = now;
    other.environment[key] = "x";
    EXPECT_THROW(check_same_run(earlier, other, "r.json"), UserError);
  }
  now.binary_hash = "other";
  try {
    check_same_run(earlier, now, "r.json");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("the program has changed"), std::string::npos);
  }
}

}  // namespace
}  // namespace breakeven
