#include "harness/executors/fused_executor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "harness/executors/signature.h"

namespace breakeven {
namespace {

constexpr const char* kGraph = R"(graph "tiny" {
  sym batch in [1, 8] hint 2
  %w = weight "w" : f32[4] init normal(0, 1, seed=3)
  %x = input "x" : f32[batch, 4]
  %a = aten.mul.Tensor(self=%x, other=%w) : f32[batch, 4]
  %b = aten.tanh.default(self=%a) : f32[batch, 4]
  return %b
}
)";

class FusedArms : public testing::TestWithParam<const char*> {
 protected:
  FusedArms() {
    scenario_.path = dir_.path() / "scenario.json";
    scenario_.dims = {{"batch", 1, 8}};
    scenario_.inputs = {{"x", DType::kF32, {"batch", "4"}, 0, 1}};
    scenario_.model.file = (dir_.path() / "tiny.ir").string();
    write_file_atomic(scenario_.model.file, kGraph);
  }
  ExecutorContext context(const std::string& cache = "cache") const {
    return {.scenario = &scenario_, .cache_dir = dir_.path() / cache, .threads = 1};
  }
  std::unique_ptr<Executor> make(const std::string& arm) {
    return find_arm(arms_, arm)->make(arm, context());
  }
  static std::vector<HostTensor> request(std::int64_t batch) {
    HostTensor x = HostTensor::empty(DType::kF32, {batch, 4});
    for (std::int64_t i = 0; i < 4 * batch; ++i) x.as<float>()[i] = 0.1f * static_cast<float>(i);
    return {x};
  }

  TempDir dir_{"breakeven-executors"};
  Scenario scenario_;
  ArmTable arms_ = model_arms();
};

TEST_P(FusedArms, AgreesWithTheAccuracyReference) {
  const auto executor = make(GetParam());
  EXPECT_FALSE(executor->prepare().stages.empty());
  const auto reference = make_accuracy_reference(context());
  for (const std::int64_t batch : {1, 2, 8}) {
    const auto inputs = request(batch);
    const auto outputs = executor->run(inputs).outputs;
    const auto exact = reference->run_fp64(inputs);
    ASSERT_EQ(outputs.size(), 1u);
    ASSERT_EQ(outputs[0].sizes, exact[0].sizes);
    for (std::int64_t i = 0; i < outputs[0].element_count(); ++i) {
      EXPECT_NEAR(element_as_double(outputs[0], i), element_as_double(exact[0], i), 1e-6);
    }
  }
}

TEST_P(FusedArms, AnotherModelsInputsAreRefusedBeforeAnyRequest) {
  scenario_.inputs[0].dtype = DType::kI64;
  EXPECT_THROW(make(GetParam())->prepare(), UserError);
}

TEST_P(FusedArms, CountsItsWorkExactly) {
  const std::map<std::string, int> programs = {
      {"fused:static", 3}, {"fused:dynamic", 1}, {"fused:auto", 2}};
  const int made = programs.at(GetParam());
  const auto executor = make(GetParam());
  executor->prepare();
  for (const std::int64_t batch : {2, 2, 3, 2, 4}) executor->run(request(batch));
  const Counters counters = executor->counters();
  EXPECT_EQ(counters.at("requests"), 5);
  EXPECT_EQ(counters.at("fallback_requests"), 0);
  EXPECT_EQ(counters.at("programs"), made);
  EXPECT_EQ(counters.at("recompiles"), made - 1);
  EXPECT_EQ(counters.at("kernels_per_request"), 1);
  EXPECT_EQ(counters.at("kernel_launches"), 5);
  EXPECT_EQ(counters.at("extern_calls_per_request"), 0);
}

TEST_P(FusedArms, RefusedRequestsAreTheUsersErrors) {
  const auto executor = make(GetParam());
  executor->prepare();
  // A size outside the exported range is served eagerly; a wrong rank is nobody's request.
  const std::vector<HostTensor> too_many = {HostTensor::zeros(DType::kF32, {9, 4})};
  EXPECT_TRUE(executor->run(too_many).fell_back);
  const std::vector<HostTensor> flat = {HostTensor::zeros(DType::kF32, {4})};
  EXPECT_THROW(executor->run(flat), UserError);
  EXPECT_THROW(executor->run({}), UserError);
  EXPECT_EQ(executor->run(request(2)).outputs.size(), 1u);
}

TEST_P(FusedArms, ExplainsEveryStage) {
  for (const std::string& stage : explain_model_stages()) {
    EXPECT_FALSE(explain_model(GetParam(), context(), request(2), stage).empty()) << stage;
  }
  EXPECT_THROW(explain_model(GetParam(), context(), request(2), "sourcery"), UserError);
}

INSTANTIATE_TEST_SUITE_P(Policies, FusedArms,
                         testing::Values("fused:static", "fused:dynamic", "fused:auto"),
                         [](const auto& info) { return std::string(info.param).substr(6); });

using ModelFiles = FusedArms;

TEST_F(ModelFiles, AMissingFileNamesTheCommandThatMakesIt) {
  scenario_.model.file = (dir_.path() / "none.pt2").string();
  scenario_.model.export_args = {"mlp", "--seed", "2"};
  const auto executor = make("fused:static");
  try {
    executor->prepare();
    FAIL() << "prepared without a model";
  } catch (const UserError& error) {
    const std::string& fix = error.diagnostics().front().fix;
    EXPECT_NE(fix.find("scripts/export_model.py mlp --seed 2 -o " + scenario_.model.file),
              std::string::npos)
        << fix;
  }
}

TEST_F(ModelFiles, UnknownKindsAndPoliciesAreRefused) {
  scenario_.model.file = (dir_.path() / "tiny.onnx").string();
  write_file_atomic(scenario_.model.file, "?");
  const auto executor = make("fused:static");
  EXPECT_THROW(executor->prepare(), UserError);
  EXPECT_EQ(find_arm(arms_, "fused:eager"), nullptr);
  EXPECT_THROW(compile_options("fused:bucket", context()), UserError);
}

TEST_F(ModelFiles, EnvironmentNamesTheCompiler) {
  const auto facts = model_environment();
  EXPECT_FALSE(facts.at("torch").empty());
  EXPECT_FALSE(facts.at("compiler").empty());
  EXPECT_EQ(facts.at("compiler").find("none"), std::string::npos);
}

struct SignatureCase {
  std::vector<InputSpec> inputs;
  const char* says;
};

class Signature : public testing::TestWithParam<SignatureCase> {};

TEST_P(Signature, FaultsAreToldWithTheModelsOwnInputs) {
  const Graph graph = parse_graph(R"(graph "two" {
  sym batch in [1, 8] hint 2
  %x = input "x" : f32[batch, 4]
  %y = input "y" : i64[batch]
  return %x, %y
}
)",
                                  "two.ir");
  Scenario scenario;
  scenario.path = "s.json";
  scenario.dims = {{"batch", 1, 8}, {"wide", 4, 5}};
  scenario.inputs = GetParam().inputs;
  std::string told;
  for (const Diagnostic& fault : signature_faults(scenario, graph)) told += to_string(fault) + '\n';
  const std::string says = GetParam().says;
  if (says.empty()) {
    EXPECT_EQ(told, "");
  } else {
    EXPECT_NE(told.find(says), std::string::npos) << told;
  }
}

const InputSpec kX{.name = "x", .sizes = {"batch", "4"}};
const InputSpec kY{.name = "y", .dtype = DType::kI64, .sizes = {"batch"}};
INSTANTIATE_TEST_SUITE_P(
    All, Signature,
    testing::Values(
        SignatureCase{{kX, kY}, ""},
        SignatureCase{{{.name = "any", .sizes = {"batch", "4"}}, kY}, ""},
        SignatureCase{{kX},
                      "the scenario has 1 inputs and the model takes 2. The model's inputs "
                      "are x f32[batch, 4], y i64[batch]"},
        SignatureCase{{kY, kX}, "the model's input 1 is \"x\""},
        SignatureCase{{kX, {.name = "y", .sizes = {"batch"}}}, "has another dtype"},
        SignatureCase{{kX, {.name = "y", .dtype = DType::kI64, .sizes = {"batch", "4"}}},
                      "has 1 dims"},
        SignatureCase{{{.name = "x", .sizes = {"batch", "5"}}, kY}, "is fixed at 4 in dim 1"},
        SignatureCase{{{.name = "x", .sizes = {"batch", "wide"}}, kY}, "is fixed at 4 in dim 1"}));

TEST(SignatureOf, NamesDimsAndBoundsThem) {
  const Graph graph = parse_graph(R"(graph "one" {
  sym s0 in [2, inf] hint 300
  %x = input "x" : f32[s0, s0*2, 3]
  return %x
}
)",
                                  "one.ir");
  const ModelSignature signature = signature_of(graph);
  ASSERT_EQ(signature.dims.size(), 2u);
  EXPECT_EQ(signature.dims[0].name, "s0");
  EXPECT_EQ(signature.dims[0].min, 2);
  EXPECT_EQ(signature.dims[0].max, 1200);
  EXPECT_EQ(signature.usual_sizes, (std::vector<std::int64_t>{300, 600}));
  EXPECT_EQ(signature.inputs[0].sizes, (std::vector<std::string>{"s0", "x_1", "3"}));
}

}  // namespace
}  // namespace breakeven
