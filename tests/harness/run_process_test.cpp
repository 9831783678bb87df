// Whole runs by the program itself: what is kept when a run is killed, cut off or has no room.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "compiler/support/files.h"
#include "compiler/support/subprocess.h"
#include "compiler/support/text.h"
#include "reports/schema/raw_samples.h"
#include "reports/schema/results.h"

namespace breakeven {
namespace {

namespace fs = std::filesystem;

const std::string kProgram = std::string(BREAKEVEN_BINARY_DIR) + "/breakeven";

class RunProcess : public testing::Test {
 protected:
  RunProcess() : directory_("run-test") { write_scenario(0.3, 5); }
  void write_scenario(double seconds, double service_ms, const std::string& name = "small") const {
    const nlohmann::json json = {
        {"breakeven", 1},
        {"name", name},
        {"model",
         {{"name", "fake"},
          {"script", {{"service_ms", service_ms}, {"first_shape_stall_ms", 20}}}}},
        {"dims", {{"length", {{"max", 64}}}}},
        {"inputs", {{{"name", "x"}, {"dtype", "f32"}, {"sizes", {"length"}}}}},
        {"shapes",
         {{"length",
           {{"kind", "list"},
            {"sizes", {{{"size", 8}, {"weight", 3}}, {{"size", 16}, {"weight", 1}}}}}}}},
        {"traffic", {{"kind", "poisson"}, {"rate_per_s", 50}}},
        {"arms", {"null", "scripted"}},
        {"life", {{"restarts_per_day", 2}, {"origin", "assumed"}}},
        {"price", {{"usd_per_hour", 0.1}, {"device", "2 vCPU"}, {"origin", "assumed"}}},
        {"measure",
         {{"processes", 2},
          {"start_seconds", seconds},
          {"traffic_seconds", seconds},
          {"steady_requests", 5},
          {"trial_timeout_s", 30}}}};
    std::ofstream(scenario()) << json.dump(2);
  }
  std::string scenario() const { return (directory_.path() / "scenario.json").string(); }
  fs::path out() const { return directory_.path() / "out"; }
  SubprocessResult run(std::vector<std::string> arguments,
                       std::vector<std::string> environment = {}) const {
    SubprocessOptions options;
    options.argv = {kProgram};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = std::move(environment);
    options.timeout = 120'000'000'000;
    return run_subprocess(options);
  }
  SubprocessResult run_here(const std::string& extra = "--quiet") const {
    return run({"run", scenario(), "-o", out().string(), extra});
  }
  /// A run in the background, in a process group of its own.
  pid_t start() const {
    const pid_t child = ::fork();
    if (child == 0) {
      ::setpgid(0, 0);
      ::execl(kProgram.c_str(), kProgram.c_str(), "run", scenario().c_str(), "-o", out().c_str(),
              "--quiet", nullptr);
      ::_exit(127);
    }
    return child;
  }
  void wait_for_trials(std::size_t count) const {
    for (int i = 0; i < 600; ++i) {
      std::error_code ignored;
      if (fs::exists(out() / "results.json", ignored) &&
          read_results(out() / "results.json").trials.size() >= count) {
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL() << "no " << count << " trials after 30 s";
  }
  static int exit_code_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// Names of files that a write left half done.
  std::vector<std::string> leftovers() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(out())) {
      const std::string name = entry.path().filename().string();
      if (name.find(".tmp-") != name.npos) names.push_back(name);
    }
    return names;
  }
  TempDir directory_;
};

constexpr std::size_t kTrials = 2 + 2 * 2 * 4;  // Two primings; arms x processes x phases.

TEST_F(RunProcess, WritesResultsRawFilesAndReport) {
  const SubprocessResult result = run_here();
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  const Results results = read_results(out() / "results.json");
  ASSERT_EQ(results.trials.size(), kTrials);
  EXPECT_FALSE(results.interrupted);
  for (const Trial& trial : results.trials) {
    EXPECT_TRUE(trial.ok) << trial.failure;
    EXPECT_GT(trial.wall_ns, 0);
    EXPECT_GT(trial.peak_rss_bytes, 0);
    if (!trial.raw_file.empty())
      EXPECT_FALSE(read_raw_samples(out() / trial.raw_file, trial.raw_checksum).empty());
  }
  for (const char* name : {"report.html", "report.json", "report.md", "log.jsonl"}) {
    EXPECT_TRUE(fs::exists(out() / name)) << name;
  }
  EXPECT_FALSE(fs::exists(out() / "work"));
  EXPECT_TRUE(leftovers().empty());
  std::ifstream log(out() / "log.jsonl");
  for (std::string line; std::getline(log, line);)
    EXPECT_NO_THROW((void)nlohmann::json::parse(line));
}

TEST_F(RunProcess, ArmsOfARepetitionSeeTheSameRequests) {
  ASSERT_EQ(run_here().exit_code, 0);
  const Results results = read_results(out() / "results.json");
  for (const std::string phase : {"cold", "traffic", "steady"}) {
    std::vector<std::vector<std::string>> seen;
    for (const Trial& trial : results.trials) {
      if (trial.phase != phase || trial.process != 0) continue;
      std::vector<std::string>& shapes = seen.emplace_back();
      for (const RawSample& sample : read_raw_samples(out() / trial.raw_file, trial.raw_checksum)) {
        shapes.push_back(trial.shapes.at(static_cast<std::size_t>(sample.shape)));
      }
    }
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[0], seen[1]) << phase;
  }
}

TEST_F(RunProcess, SecondRunIntoADirectoryIsRefusedUnlessTold) {
  ASSERT_EQ(run_here().exit_code, 0);
  const SubprocessResult again = run_here();
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.standard_error.find("--resume"), std::string::npos);
  const SubprocessResult resumed = run_here("--resume");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.standard_error;
  EXPECT_EQ(read_results(out() / "results.json").trials.size(), kTrials);
  write_scenario(0.2, 5);
  const SubprocessResult changed = run_here("--resume");
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_NE(changed.standard_error.find("the scenario or its options has changed"),
            std::string::npos)
      << changed.standard_error;
  EXPECT_EQ(run_here("--fresh").exit_code, 0);
}

// A raw file that was changed, swapped or lost is never believed: the report names it, and going on
// measures its trial again.
TEST_F(RunProcess, ADamagedSampleFileIsRefusedAndMeasuredAgain) {
  ASSERT_EQ(run_here().exit_code, 0);
  const Results before = read_results(out() / "results.json");
  const auto file_of = [&](const std::string& phase, int process) {
    for (const Trial& trial : before.trials) {
      if (trial.phase == phase && trial.process == process) return out() / trial.raw_file;
    }
    return out();
  };
  std::filesystem::copy_file(file_of("traffic", 1), file_of("traffic", 0),
                             std::filesystem::copy_options::overwrite_existing);
  const SubprocessResult report = run({"report", out().string()});
  EXPECT_EQ(report.exit_code, 2);
  EXPECT_NE(report.standard_error.find("is not the one that results.json was written with"),
            std::string::npos)
      << report.standard_error;
  std::filesystem::remove(file_of("cold", 1));
  EXPECT_EQ(run({"report", out().string()}).exit_code, 2);
  const SubprocessResult resumed = run_here("--resume");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.standard_error;
  const Results after = read_results(out() / "results.json");
  ASSERT_EQ(after.trials.size(), kTrials);
  std::map<std::string, std::int64_t> walls;
  for (const Trial& trial : before.trials) {
    walls[trial.arm + trial.phase + std::to_string(trial.process)] = trial.wall_ns;
  }
  std::size_t again = 0;
  for (const Trial& trial : after.trials) {
    again += walls[trial.arm + trial.phase + std::to_string(trial.process)] != trial.wall_ns;
    if (trial.raw_file.empty()) continue;  // Priming and accuracy keep none.
    EXPECT_NO_THROW((void)read_raw_samples(out() / trial.raw_file, trial.raw_checksum));
  }
  EXPECT_GE(again, 2u);
  EXPECT_LT(again, kTrials);
  EXPECT_EQ(run({"report", out().string()}).exit_code, 0);
}

TEST_F(RunProcess, FreshDeletesOnlyWhatARunWrites) {
  ASSERT_EQ(run_here().exit_code, 0);
  write_file_atomic(out() / "raw" / "mine.txt", "mine");
  write_file_atomic(out() / "notes.md", "mine");
  ASSERT_EQ(run_here("--fresh").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(out() / "raw" / "mine.txt"));
  EXPECT_TRUE(std::filesystem::exists(out() / "notes.md"));
  write_file_atomic(out() / "results.json", "{\"my own\": 1}");
  const SubprocessResult refused = run_here("--fresh");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.standard_error.find("did not write"), std::string::npos);
  EXPECT_EQ(read_file(out() / "results.json"), "{\"my own\": 1}");
}

TEST_F(RunProcess, InterruptKeepsWhatIsDoneAndResumeGoesOn) {
  write_scenario(1.0, 5);
  const pid_t child = start();
  wait_for_trials(4);
  ::kill(child, SIGINT);
  EXPECT_EQ(exit_code_of(child), 130);
  const Results part = read_results(out() / "results.json");
  EXPECT_TRUE(part.interrupted);
  EXPECT_GE(part.trials.size(), 4u);
  EXPECT_LT(part.trials.size(), kTrials);
  EXPECT_TRUE(leftovers().empty());
  const SubprocessResult resumed = run_here("--resume");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.standard_error;
  const Results whole = read_results(out() / "results.json");
  EXPECT_FALSE(whole.interrupted);
  ASSERT_EQ(whole.trials.size(), kTrials);
  // What had been measured was not measured again.
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(whole.trials[i].wall_ns, part.trials[i].wall_ns);
}

TEST_F(RunProcess, TwoRunsInOneDirectoryAreRefused) {
  write_scenario(1.0, 5);
  const pid_t child = start();
  wait_for_trials(1);
  const SubprocessResult second = run_here("--resume");
  EXPECT_EQ(second.exit_code, 5);
  EXPECT_NE(second.standard_error.find("another run"), std::string::npos);
  ::kill(child, SIGTERM);
  EXPECT_EQ(exit_code_of(child), 130);
}

TEST_F(RunProcess, KilledTrialIsReportedAndTheRunGoesOn) {
  write_scenario(1.5, 5);
  const pid_t child = start();
  // The trial is the only child of the run; kill the first that serves traffic.
  wait_for_trials(2);
  pid_t trial = 0;
  for (int i = 0; i < 400 && trial == 0; ++i) {
    std::ifstream children("/proc/" + std::to_string(child) + "/task/" + std::to_string(child) +
                           "/children");
    children >> trial;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_NE(trial, 0);
  ::kill(trial, SIGKILL);
  EXPECT_EQ(exit_code_of(child), 0);
  int failed = 0;
  for (const Trial& one : read_results(out() / "results.json").trials) {
    if (one.ok) continue;
    ++failed;
    const bool named = one.failure.find("SIGKILL") != std::string::npos ||
                       one.failure.find("cold trial") != std::string::npos;
    EXPECT_TRUE(named) << one.failure;
  }
  EXPECT_GE(failed, 1);
}

TEST_F(RunProcess, TrialThatHangsIsStopped) {
  write_scenario(0.3, 60'000);
  std::string text = read_file(scenario());
  text.replace(text.find("\"trial_timeout_s\": 30"), 21, "\"trial_timeout_s\": 1 ");
  std::ofstream(scenario()) << text;
  const SubprocessResult result =
      run({"run", scenario(), "-o", out().string(), "--processes", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_NE(result.standard_error.find("timed out"), std::string::npos);
}

TEST_F(RunProcess, FullDiskEndsWithOneClearMessage) {
  // A limit on the size of files stands in for a full disk; the write fails with EFBIG instead.
  SubprocessOptions options;
  options.argv = {
      "bash",   "-c",       "trap '' XFSZ; ulimit -f 4; exec \"$0\" run \"$1\" -o \"$2\" --quiet",
      kProgram, scenario(), out().string()};
  options.timeout = 60'000'000'000;
  const SubprocessResult result = run_subprocess(options);
  EXPECT_EQ(result.exit_code, 5) << result.standard_error;
  EXPECT_NE(result.standard_error.find("cannot write"), std::string::npos);
  EXPECT_EQ(split(result.standard_error, '\n').size(), 2u) << result.standard_error;
  EXPECT_TRUE(leftovers().empty());
}

TEST_F(RunProcess, UnwritableDirectoryIsNamed) {
  const SubprocessResult result = run({"run", scenario(), "-o", "/proc/nowhere"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_NE(result.standard_error.find("/proc/nowhere"), std::string::npos);
}

TEST_F(RunProcess, SeveralScenariosGoIntoSafeDirectories) {
  write_scenario(0.2, 1, "../a/b");
  const std::string second = (directory_.path() / "second.json").string();
  std::string text = read_file(scenario());
  text.replace(text.find("../a/b"), 6, "other!");
  std::ofstream(second) << text;
  const SubprocessResult result =
      run({"run", scenario(), second, "-o", out().string(), "--processes", "1", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(nlohmann::json::parse(result.standard_output).size(), 2u);
  int directories = 0;
  for (const auto& entry : fs::directory_iterator(out())) {
    ++directories;
    EXPECT_TRUE(fs::exists(entry.path() / "results.json"));
  }
  EXPECT_EQ(directories, 2);
}

TEST_F(RunProcess, MissingModelIsToldBeforeAnythingIsMeasured) {
  std::string text = read_file(scenario());
  text.replace(text.find("\"name\": \"fake\""), 14,
               "\"name\": \"fake\", \"file\": \"absent.pt2\", \"export\": [\"mlp\"]");
  std::ofstream(scenario()) << text;
  const SubprocessResult result = run_here();
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.standard_error.find("scripts/export_model.py mlp"), std::string::npos);
  EXPECT_FALSE(fs::exists(out() / "results.json"));
}

}  // namespace
}  // namespace breakeven
