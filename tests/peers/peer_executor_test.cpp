#include "harness/executors/peer_executor.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/subprocess.h"

namespace breakeven {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;  // Of one request, input by input.

HostTensor ones(std::vector<std::int64_t> sizes) {
  HostTensor tensor = HostTensor::empty(DType::kF32, std::move(sizes));
  std::fill_n(tensor.as<float>(), tensor.element_count(), 1.0f);
  return tensor;
}

std::vector<HostTensor> request(const Shapes& shapes) {
  std::vector<HostTensor> inputs;
  for (const auto& sizes : shapes) inputs.push_back(ones(sizes));
  return inputs;
}

/// Arms on one of peer_models.py's models, with one cache for all models of a test.
class Peers : public testing::Test {
 protected:
  /// Scalar kernels and no precompiled header: Inductor's own checks of the compiler take longer
  /// than all the tests, and what is counted here does not depend on them.
  static void SetUpTestSuite() {
    ::setenv("TORCHINDUCTOR_VEC_ISA_OK", "0", 1);
    ::setenv("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0", 1);
    ::setenv("BREAKEVEN_PLUGIN_DIR", BREAKEVEN_BINARY_DIR, 1);
  }
  Peers() {
    scenario_.path = std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "tests/peers/scenario.json";
    scenario_.dims = {{"batch", 1, 64}};
    scenario_.measure.seed = 1;
  }
  ExecutorContext context() const {
    return {.scenario = &scenario_, .cache_dir = cache_.path(), .threads = 1};
  }
  std::unique_ptr<Executor> prepared(const std::string& arm, const std::string& factory,
                                     const Shapes& shapes) {
    scenario_.model.factory = "peer_models:" + factory;
    scenario_.inputs.clear();
    for (const auto& sizes : shapes) {
      InputSpec input{.name = "x", .dtype = DType::kF32, .sizes = {"batch"}};
      for (std::size_t i = 1; i < sizes.size(); ++i) {
        input.sizes.push_back(std::to_string(sizes[i]));
      }
      scenario_.inputs.push_back(input);
    }
    auto executor = find_arm(arms_, arm)->make(arm, context());
    executor->prepare();
    return executor;
  }

  TempDir cache_{"breakeven-peers"};
  Scenario scenario_;
  ArmTable arms_ = model_arms();
};

struct Job {
  const char* name;
  const char* factory;
  std::vector<Shapes> requests;
  bool mark = false;
  bool explain = false;
};

std::vector<Job> jobs() {
  return {{"static, then changed", "tiny", {{{4, 8}}, {{4, 8}}, {{2, 8}}, {{6, 8}}}},
          {"zero and one", "pointwise", {{{4, 3}}, {{1, 3}}, {{0, 3}}, {{5, 3}}, {{1, 3}}}},
          {"limit reached", "limited", {{{2, 4}}, {{3, 4}}, {{4, 4}}, {{5, 4}}, {{2, 4}}}},
          {"marked dynamic", "pointwise", {{{4, 3}}, {{6, 3}}, {{9, 3}}}, true},
          {"unused input", "unused", {{{4, 3}, {2, 2}}, {{4, 3}, {5, 2}}, {{4, 3}, {1, 2}}}},
          {"branch", "branch", {{{2, 4}}}, false, true},
          {"loop", "loop", {{{2, 4}}}, false, true},
          {"count", "count", {{{2, 4}}}, false, true},
          {"early", "early", {{{2, 4}}}, false, true},
          {"item", "item", {{{2, 4}}}, false, true}};
}

/// What torch._dynamo says about the jobs, from a process without any of this program in it.
nlohmann::json oracle() {
  nlohmann::json asked;
  for (const Job& job : jobs()) {
    asked[job.name] = {{"factory", job.factory},
                       {"shapes", job.requests},
                       {"mark", job.mark},
                       {"explain", job.explain}};
  }
  const std::filesystem::path folder = std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "tests/peers";
  SubprocessOptions options;
  options.argv = {BREAKEVEN_TORCH_PYTHON, (folder / "dynamo_oracle.py").string(), asked.dump()};
  const SubprocessResult result = run_subprocess(options);
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  return nlohmann::json::parse(result.standard_output);
}

TEST_F(Peers, CountsAreThoseOfDynamo) {
  const nlohmann::json expected = oracle();
  for (const Job& job : jobs()) {
    SCOPED_TRACE(job.name);
    const std::string arm =
        job.mark ? "torch-compile:default:mark_dynamic" : "torch-compile:default";
    const auto executor = prepared(arm, job.factory, job.requests.front());
    std::int64_t events = 0;
    for (const Shapes& shapes : job.requests) {
      for (const CompileEvent& event : executor->run(request(shapes)).compiles) {
        if (event.trigger == CompileTrigger::kFirst) continue;
        ++events;
        EXPECT_FALSE(event.failed_guard.empty()) << event.origin;
      }
    }
    const Counters counters = executor->counters();
    for (const auto& [key, value] : expected.at(job.name).items()) {
      EXPECT_EQ(counters.at(key), value.get<std::int64_t>()) << key;
    }
    if (!job.explain) {
      EXPECT_EQ(counters.at("guard_failures"), events);
    } else {
      const auto fallbacks = executor->fallbacks();
      EXPECT_TRUE(std::any_of(fallbacks.begin(), fallbacks.end(), [](const Fallback& one) {
        return one.what.find("peer_models.py:") != std::string::npos && !one.whole_request;
      }));
    }
  }
}

TEST_F(Peers, PastTheLimitRequestsAreEagerAndCounted) {
  const auto executor = prepared("torch-compile:default", "limited", {{2, 4}});
  std::vector<bool> eager;
  for (const std::int64_t batch : {2, 3, 4, 5, 2}) {
    eager.push_back(executor->run(request({{batch, 4}})).fell_back);
  }
  EXPECT_EQ(eager, (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(executor->counters().at("cache_limit_hits"), 1);
  EXPECT_EQ(executor->counters().at("fallback_requests"), 2);
  ASSERT_EQ(executor->fallbacks().size(), 2u);
  EXPECT_EQ(executor->fallbacks()[0].what, "batch=4");
  EXPECT_NE(executor->fallbacks()[0].reason.find("recompile limit of 2"), std::string::npos);
}

TEST_F(Peers, AModelWithoutGraphsIsReportedAsEager) {
  const auto executor = prepared("torch-compile:default", "nothing_to_compile", {{2, 4}});
  EXPECT_TRUE(executor->run(request({{2, 4}})).fell_back);
  EXPECT_TRUE(executor->run(request({{2, 4}})).fell_back);
  EXPECT_EQ(executor->counters().at("graphs"), 0);
  ASSERT_EQ(executor->fallbacks().size(), 1u);
  EXPECT_EQ(executor->fallbacks()[0].count, 2);
  EXPECT_TRUE(executor->fallbacks()[0].whole_request);
  EXPECT_NE(executor->fallbacks()[0].reason.find("no graph"), std::string::npos);
}

TEST_F(Peers, AShapeThatDoesNotCompileStaysEagerAndTheOthersDoNot) {
  const auto executor = prepared("torch-compile:default", "picky_model", {{2, 4}});
  for (const int round : {0, 1}) {
    for (const std::int64_t batch : {2, 3, 4}) {
      const RunOutcome outcome = executor->run(request({{batch, 4}}));
      EXPECT_EQ(outcome.fell_back, batch == 3) << batch << " in round " << round;
      EXPECT_EQ(element_as_double(outcome.outputs.at(0), 0), 4.0);
    }
  }
  EXPECT_EQ(executor->fallbacks().at(0).what, "batch=3");
  EXPECT_NE(executor->fallbacks().at(0).reason.find("no code for three rows"), std::string::npos);
}

TEST_F(Peers, EveryArmServesUnderTheSameConditions) {
  for (const char* arm : {"torch-eager", "torch-compile:default"}) {
    const auto executor = prepared(arm, "conditions", {{2, 4}});
    EXPECT_EQ(element_as_double(executor->run(request({{2, 4}})).outputs.at(0), 0), 2.0) << arm;
    EXPECT_EQ(executor->counters().at("threads"), 1);
    EXPECT_EQ(executor->facts().at("python_torch"), model_environment().at("torch"));
  }
}

TEST_F(Peers, SameWeightsGiveTheSameChecksumAndResults) {
  const auto first = prepared("torch-eager", "tiny", {{2, 8}});
  const auto inputs = request({{2, 8}});
  const double answer = element_as_double(first->run(inputs).outputs.at(0), 3);
  const std::int64_t checksum = first->counters().at("weights_checksum");
  for (const char* arm : {"torch-compile:default:freezing", "torchscript", "aot-inductor", "eager",
                          "fused:dynamic"}) {
    const auto executor = prepared(arm, "tiny", {{2, 8}});
    EXPECT_NEAR(element_as_double(executor->run(inputs).outputs.at(0), 3), answer, 1e-6) << arm;
    const Counters counters = executor->counters();
    const auto told = counters.find("weights_checksum");
    if (told != counters.end()) {
      EXPECT_EQ(told->second, checksum) << arm;
    }
  }
  const auto other = prepared("torch-eager", "other_weights", {{2, 8}});
  EXPECT_NE(other->counters().at("weights_checksum"), checksum);
}

TEST_F(Peers, PackagesAndTracesAreReadBackByLaterProcesses) {
  prepared("aot-inductor", "tiny", {{2, 8}});
  prepared("torchscript", "tiny", {{2, 8}});
  const auto again = find_arm(arms_, "aot-inductor")->make("aot-inductor", context());
  const PrepareOutcome warm = again->prepare();
  ASSERT_EQ(warm.compiles.size(), 1u);
  EXPECT_EQ(warm.compiles[0].compiled, 0);
  EXPECT_GT(warm.compiles[0].from_disk, 0);
  EXPECT_EQ(warm.stages.size(), 0u);  // No Python, no capture.
  const auto scripted = find_arm(arms_, "torchscript")->make("torchscript", context());
  const PrepareOutcome read = scripted->prepare();
  EXPECT_TRUE(std::any_of(read.stages.begin(), read.stages.end(),
                          [](const Stage& stage) { return stage.name == "cache_load"; }));
}

TEST_F(Peers, ARefusedCaptureSaysWhyAndTheModelStillRuns) {
  const auto eager = prepared("torch-eager", "branch", {{2, 4}});
  EXPECT_EQ(eager->run(request({{2, 4}})).outputs.size(), 1u);
  for (const char* arm : {"eager", "fused:dynamic", "aot-inductor"}) {
    try {
      prepared(arm, "branch", {{2, 4}});
      ADD_FAILURE() << arm << " captured a branch on data";
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("capture failed"), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(Peers, AnExceptionIsAFailedRequestWithItsPlace) {
  for (const char* arm : {"torch-eager", "torch-compile:default"}) {
    const auto executor = prepared(arm, "raises", {{2, 4}});
    try {
      executor->run(request({{2, 4}}));
      ADD_FAILURE() << arm << " answered";
    } catch (const UserError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("ValueError: no answer for this request"), std::string::npos) << text;
      EXPECT_NE(text.find("peer_models.py:"), std::string::npos) << text;
    }
  }
}

TEST_F(Peers, FactoryAndArchiveMustHaveTheSameWeights) {
  const auto made = prepared("fused:dynamic", "tiny", {{2, 8}});
  scenario_.model.file = (cache_.path() / "captured.pt2").string();
  ExecutorContext checked = context();
  checked.verify = true;
  EXPECT_NO_THROW(PythonPeer({.engine = "torch-eager", .mode = {}}, checked));
  scenario_.model.factory = "peer_models:other_weights";
  EXPECT_THROW(PythonPeer({.engine = "torch-eager", .mode = {}}, checked), UserError);
}

TEST_F(Peers, ThePluginIsFoundAndSaysItsVersion) {
  const auto found = probe_python();
  ASSERT_TRUE(found.ok()) << found.refusal().reason;
  EXPECT_EQ(found.value().substr(0, 2), "3.");
}

}  // namespace
}  // namespace breakeven
