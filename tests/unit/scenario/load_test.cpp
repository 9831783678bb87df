#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "harness/scenario/scenario.h"
#include "tests/unit/scenario/scenario_files.h"

namespace breakeven {
namespace {

std::vector<Diagnostic> faults_of(const ScenarioFiles& files, const std::string& text) {
  try {
    load_scenario(files.write("scenario.json", text));
  } catch (const UserError& error) {
    return error.diagnostics();
  }
  return {};
}

TEST(LoadScenario, FillsInDefaults) {
  const ScenarioFiles files;
  const Scenario scenario = load_scenario(files.write("scenario.json", ScenarioFiles::text()));
  EXPECT_EQ(scenario.name, "test");
  EXPECT_EQ(scenario.dims[0].min, 1);
  EXPECT_EQ(scenario.measure.processes, 5);
  EXPECT_EQ(scenario.policy, "balanced");
  EXPECT_FALSE(scenario.policy_json.empty());
  EXPECT_FALSE(scenario.life.cache_survives_restart);
  const auto canonical = nlohmann::json::parse(scenario.canonical_json);
  EXPECT_EQ(canonical["measure"]["processes"], 5);
  EXPECT_EQ(canonical["shape_order"], "resampled");
}

struct FaultCase {
  const char* from;
  const char* to;
  int line;
  int column;
  const char* says;
  const char* fix;
};

class BadScenario : public testing::TestWithParam<FaultCase> {};

TEST_P(BadScenario, HasOneFaultWithPlaceAndFix) {
  const ScenarioFiles files;
  const FaultCase& one = GetParam();
  const std::vector<Diagnostic> faults = faults_of(files, ScenarioFiles::with(one.from, one.to));
  ASSERT_EQ(faults.size(), 1u) << (faults.empty() ? "" : to_string(faults[1]));
  const std::string text = to_string(faults[0]);
  EXPECT_EQ(faults[0].line, one.line) << text;
  EXPECT_EQ(faults[0].column, one.column) << text;
  EXPECT_NE(text.find(one.says), std::string::npos) << text;
  EXPECT_NE(faults[0].fix.find(one.fix), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadScenario,
    testing::Values(
        FaultCase{"\"breakeven\": 1", "\"breakeven\": 2", 2, 16, "must be equal to 1", "version"},
        FaultCase{"\"name\": \"test\"", "\"name\": \"\"", 3, 11, "is empty",
                  "Name of the scenario"},
        FaultCase{"\"name\": \"test\"", "\"nam\": \"test\", \"name\": \"t\"", 3, 3, "no such key",
                  "\"name\""},
        FaultCase{"\"service_ms\": 1", "\"service_mss\": 1", 4, 40, "no such key", "service_ms"},
        FaultCase{"\"max\": 64", "\"max\": \"64\"", 5, 30, "must be a whole number, not a string",
                  ""},
        FaultCase{"\"max\": 64", "\"max\": 6.5", 5, 30, "whole number", "Round"},
        FaultCase{"\"max\": 64", "\"max\": 0", 5, 30, "at least 1", ""},
        FaultCase{"\"max\": 64", "\"min\": 65, \"max\": 64", 5, 41, "below its smallest",
                  "Exchange"},
        FaultCase{"\"i64\"", "\"int64\"", 6, 39, "none of", "i64"},
        FaultCase{"[1, \"length\"]", "[1, \"lenght\"]", 6, 59, "no dim has this name", "length"},
        FaultCase{"\"fixed\"", "\"fixd\"", 7, 33, "none of", "fixed"},
        FaultCase{"\"size\": 8", "\"size\": 99", 7, 24, "99 lies outside", "Widen"},
        FaultCase{"\"kind\": \"poisson\", ", "", 8, 14, "\"traffic.kind\" is missing", "poisson"},
        FaultCase{"\"rate_per_s\": 10", "\"rate_per_s\": 0", 8, 48, "above 0", ""},
        FaultCase{"\"rate_per_s\": 10", "\"rate_per_s\": 10, \"cv\": 2", 8, 52, "no such key", ""},
        FaultCase{"\"scripted\"]", "\"eagre\"]", 9, 20, "is no arm", "eager"},
        FaultCase{"\"scripted\"]", "\"torch-compile:fast\"]", 9, 20, "does not have",
                  "aot-inductor, torch-compile:MODE[:dynamic|:mark_dynamic][:freezing]"},
        FaultCase{"\"scripted\"]", "\"torch-compile:default\"]", 9, 20, "needs \"model.file\"",
                  ".pt2"},
        FaultCase{"\"scripted\"]", "\"null\"]", 9, 20, "already", "Remove"},
        FaultCase{"\"scripted\"]", "\"eager\"]", 9, 20, "needs \"model.file\"", ".pt2"},
        FaultCase{", \"script\": {\"service_ms\": 1}", "", 9, 20, "needs \"model.script\"", ""},
        FaultCase{"\"origin\": \"given\"", "\"origin\": \"guessed\"", 10, 45, "none of", "Choose"},
        FaultCase{"\"life\"", "\"shape_order\": \"published\", \"life\"", 10, 18,
                  "no published order", "resampled"},
        FaultCase{"\"life\"", "\"policy\": \"balancd\", \"life\"", 10, 13, "names no policy",
                  "balanced"},
        FaultCase{"\"life\"", "\"measure\": {\"trial_timeout_s\": 5}, \"life\"", 10, 34,
                  "would be stopped", "start_seconds"}));

TEST(LoadScenario, TellsAllFaultsAtOnceInOrder) {
  const ScenarioFiles files;
  std::string text = ScenarioFiles::with("\"max\": 64", "\"max\": -1");
  text.replace(text.find("\"given\""), 7, "true   ");
  text.replace(text.find("\"usd_per_hour\""), 14, "\"usd_per_huor\"");
  const std::vector<Diagnostic> faults = faults_of(files, text);
  ASSERT_EQ(faults.size(), 4u);  // The misspelt key is unknown, and the right one missing.
  EXPECT_EQ(faults[0].line, 5);
  EXPECT_EQ(faults[1].line, 10);
  EXPECT_EQ(faults[2].line, 11);
  EXPECT_EQ(faults[3].line, 11);
}

TEST(LoadScenario, CommentsAreKeysThatStartWithSlashes) {
  const ScenarioFiles files;
  EXPECT_TRUE(
      faults_of(files, ScenarioFiles::with("\"name\"", "\"// why\": \"x\", \"name\"")).empty());
  EXPECT_EQ(faults_of(files, ScenarioFiles::with("\"name\"", "\"// why\": 1, \"name\"")).size(),
            1u);
}

TEST(LoadScenario, FaultsOfDataFilesAreTold) {
  const ScenarioFiles files;
  files.write("bad.csv", "at\n0\n2\n1\nnan\n-1\n\"\"\n");
  const std::string traffic = R"({"kind": "trace", "file": "bad.csv", "time_column": "at"})";
  const auto faults =
      faults_of(files, ScenarioFiles::with(R"({"kind": "poisson", "rate_per_s": 10})", traffic));
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_EQ(faults[0].line, 4);
  EXPECT_NE(faults[0].file.find("bad.csv"), std::string::npos);
  const auto missing = faults_of(
      files, ScenarioFiles::with(R"({"kind": "poisson", "rate_per_s": 10})",
                                 R"({"kind": "trace", "file": "none.csv", "time_column": "at"})"));
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0].line, 8);
  EXPECT_NE(to_string(missing[0]).find("No such file"), std::string::npos);
}

TEST(LoadScenario, HashFollowsContentAndData) {
  const ScenarioFiles files;
  const std::string text =
      ScenarioFiles::with(R"({"kind": "fixed", "size": 8})",
                          R"({"kind": "histogram", "file": "lengths.csv", "value_column": "length",
                              "count_column": "count"})");
  const std::string hash = load_scenario(files.write("scenario.json", text)).hash;
  EXPECT_EQ(load_scenario(files.write("again.json", text + "\n\n")).hash, hash);
  files.write("lengths.csv", "length,count\n8,3\n16,2\n");
  EXPECT_NE(load_scenario(files.path("scenario.json")).hash, hash);
}

TEST(LoadScenario, RefusesMissingAndOversizedFiles) {
  const ScenarioFiles files;
  EXPECT_THROW(load_scenario(files.path("absent.json")), UserError);
  EXPECT_THROW(load_scenario(files.path("")), UserError);
  EXPECT_THROW(load_scenario(files.write("big.json", std::string(5 << 20, ' '))), UserError);
  ASSERT_EQ(::mkfifo(files.path("pipe.json").c_str(), 0600), 0);
  EXPECT_THROW(load_scenario(files.path("pipe.json")), UserError);  // And does not wait for ever.
}

TEST(NewScenario, LoadsAndSurvivesAnyName) {
  const ScenarioFiles files;
  for (const std::string name : {"plain", "a \"quoted\" \x01 name", "\xff\xfe", "日本"}) {
    const Scenario scenario = load_scenario(files.write("new.json", new_scenario_text(name)));
    EXPECT_FALSE(scenario.name.empty());
  }
}

TEST(ScenarioSchema, IsTheCommittedOne) {
  EXPECT_EQ(
      read_file(std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "scenarios/scenario.schema.json"),
      scenario_schema());
}

}  // namespace
}  // namespace breakeven
