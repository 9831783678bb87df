// Every command's exit code, messages and JSON, in this process but for real runs.
#include "harness/cli/cli.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "compiler/support/files.h"

namespace breakeven {
namespace {

struct Outcome {
  int code = 0;
  std::string out, err;
};

Outcome call(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int code = run_cli("build/breakeven", arguments, now_ns(), out, err);
  return {code, out.str(), err.str()};
}

const std::string kScenarios = std::string(BREAKEVEN_SOURCE_DIR) + "/scenarios/";

class Cli : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }
  TempDir directory_{"cli-test"};
};

TEST_F(Cli, HelpAndVersionSucceedOnStandardOutput) {
  const Outcome help = call({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("130 interrupted"), std::string::npos);
  EXPECT_EQ(help.out.find("__trial"), std::string::npos);
  EXPECT_TRUE(call({"--version"}).out.starts_with("breakeven "));
  const Outcome run_help = call({"run", "--help"});
  EXPECT_EQ(run_help.code, 0);
  EXPECT_NE(run_help.out.find("--resume"), std::string::npos);
}

struct UsageCase {
  std::vector<std::string> arguments;
  std::string says;
};
class Usage : public testing::TestWithParam<UsageCase> {};
TEST_P(Usage, IsExitTwoWithAHint) {
  const Outcome outcome = call(GetParam().arguments);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(GetParam().says), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("terminate"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(
    All, Usage,
    testing::Values(UsageCase{{}, "Usage"}, UsageCase{{"rnu"}, "Did you mean \"run\""},
                    UsageCase{{"validat", "x.json"}, "Did you mean \"validate\""},
                    UsageCase{{"run", "x.json", "-o", "d", "--quik"}, "Did you mean \"--quick\""},
                    UsageCase{{"run", "x.json", "-o", "d", "--processes", "0"}, "--processes"},
                    UsageCase{{"run", "x.json", "-o", "d", "--resume", "--fresh"}, "--"},
                    UsageCase{{"run", "x.json"}, "--out"}, UsageCase{{"report"}, "DIR"},
                    UsageCase{{"report", "/nonexistent"}, "no results.json"},
                    UsageCase{{"validate", "/nonexistent.json"}, "No such file"},
                    UsageCase{{"new"}, "needs a name"},
                    UsageCase{{"run", "/nonexistent.json", "-o", "d"}, "No such file"},
                    UsageCase{{"__trial", "/nonexistent", "x"}, "No such file"}));

TEST_F(Cli, ValidateTellsEveryFaultOfEveryFile) {
  const std::string bad = write("bad.json", "{\"breakeven\": 1,\n\"nmae\": \"x\"}");
  const Outcome outcome = call({"validate", kScenarios + "scripted.json", bad});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.out.find("scripted.json: ok"), std::string::npos);
  EXPECT_NE(outcome.err.find("bad.json:2:1: the scenario has no such key"), std::string::npos);
  EXPECT_NE(outcome.err.find("\"model\" is missing"), std::string::npos);
}

TEST_F(Cli, ValidateJsonParsesWhateverTheNamesHold) {
  const std::string odd =
      write("odd\x01\xff.json", "{\"a\x7f\": 1, \"\\u0001\": \"\\ud83d\\ude00\"}");
  const Outcome outcome = call({"validate", "--json", odd, kScenarios + "scripted.json"});
  EXPECT_EQ(outcome.code, 2);
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_FALSE(json[0]["valid"].get<bool>());
  EXPECT_TRUE(json[1]["valid"].get<bool>());
  EXPECT_EQ(json[1]["effective"]["measure"]["processes"], 5);
  // Nothing that moves a cursor or hides text reaches the terminal.
  for (const char c : outcome.err) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST_F(Cli, NewWritesAScenarioThatValidates) {
  const std::string file = path("new.json");
  EXPECT_EQ(call({"new", "my service", "-o", file}).code, 0);
  EXPECT_EQ(call({"validate", file}).code, 0);
  EXPECT_EQ(call({"new", "again", "-o", file}).code, 2);
  const Outcome printed = call({"new", "x"});
  EXPECT_EQ(nlohmann::json::parse(printed.out)["name"], "x");
  EXPECT_EQ(call({"new", "--schema"}).out, read_file(kScenarios + "scenario.schema.json"));
}

TEST_F(Cli, NewFromAModelValidatesAgainstThatModel) {
  const std::string model = write("m.ir", R"(graph "m" {
  sym n in [1, 64] hint 4
  %x = input "x" : f32[n, 3]
  %a = aten.tanh.default(self=%x) : f32[n, 3]
  return %a
}
)");
  const std::string file = path("of_model.json");
  EXPECT_EQ(call({"new", "mine", "--model", model, "-o", file}).code, 0);
  auto json = nlohmann::json::parse(read_file(file));
  EXPECT_EQ(json["model"]["file"], "m.ir");
  EXPECT_EQ(json["dims"]["n"]["max"], 64);
  EXPECT_EQ(call({"validate", file}).code, 0);
  json["inputs"][0]["dtype"] = "i64";
  const Outcome outcome = call({"validate", write("wrong.json", json.dump(1))});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("has another dtype"), std::string::npos) << outcome.err;
  EXPECT_EQ(call({"new", "mine", "--model", path("absent.pt2")}).code, 2);
}

TEST_F(Cli, NewIntoAnUnwritableDirectoryIsTheMachinesFault) {
  EXPECT_EQ(call({"new", "x", "-o", "/proc/none/x.json"}).code, 5);
}

TEST_F(Cli, DoctorNamesPartsAndArms) {
  const Outcome text = call({"doctor"});
  EXPECT_EQ(text.code, 0);
  for (const char* part : {"LibTorch", "in-process clang", "NVRTC", "CUPTI", "scripted"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  }
  const auto json = nlohmann::json::parse(call({"doctor", "--json"}).out);
  EXPECT_GE(json["parts"].size(), 6u);
  EXPECT_GE(json["arms"].size(), 3u);
}

TEST_F(Cli, ExplainSaysWhatItNeeds) {
  const std::string scripted = kScenarios + "scripted.json";
  const Outcome stage = call({"explain", scripted, "--to", "fuze"});
  EXPECT_EQ(stage.code, 2);
  EXPECT_NE(stage.err.find("Did you mean \"fuse\""), std::string::npos) << stage.err;
  EXPECT_NE(call({"explain", scripted, "--to", "fuse"}).err.find("no model file"),
            std::string::npos);
  EXPECT_NE(call({"explain", scripted, "--to", "decide"}).err.find("--dir"), std::string::npos);
  EXPECT_EQ(call({"explain", kScenarios + "mlp.json", "--to", "import", "--size", "batch=0"}).code,
            2);
  EXPECT_EQ(call({"explain", kScenarios + "mlp.json", "--to", "import", "--size", "b"}).code, 2);
}

TEST_F(Cli, UnknownArmOfTheScenarioIsNamed) {
  const Outcome outcome =
      call({"run", kScenarios + "scripted.json", "-o", path("out"), "--arms", "nul"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("Did you mean \"null\""), std::string::npos) << outcome.err;
  const Outcome twice =
      call({"run", kScenarios + "scripted.json", "-o", path("out"), "--arms", "null,null"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(Cli, CorruptResultsAreBadInput) {
  std::filesystem::create_directories(path("run"));
  for (const char* text : {"", "{", "{\"format\": \"other\"}", "\xff\xfe"}) {
    write("run/results.json", text);
    const Outcome outcome = call({"report", path("run")});
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_TRUE(outcome.err.starts_with("breakeven: "));
  }
  EXPECT_FALSE(std::filesystem::exists(path("run/report.html")));
}

}  // namespace
}  // namespace breakeven
