#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/support/clock.h"
#include "compiler/support/error.h"
#include "compiler/torch/torch_backend.h"
#include "tests/models/safetensors.h"

namespace breakeven {
namespace {

class RecordedModel : public testing::TestWithParam<const char*> {};

// The archives were recorded by PyTorch in another process with its own thread count, so that sums
// may be split elsewhere: a few ulps of the outputs' scale, not more.
TEST_P(RecordedModel, EagerEqualsPyTorchsOwnAnswer) {
  const std::string name = GetParam();
  const ImportedModel model = import_pt2(model_file(name + ".pt2"));
  EagerModel eager(model.graph, model.weights);
  for (const RecordedCase& recorded : read_cases(model_file(name + ".safetensors"))) {
    const auto outputs = eager.run(recorded.inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.refusal().reason;
    ASSERT_EQ(outputs.value().size(), recorded.outputs.size());
    for (std::size_t i = 0; i < recorded.outputs.size(); ++i) {
      EXPECT_LE(largest_difference(outputs.value()[i], recorded.outputs[i]), 2e-6) << name << i;
    }
  }
}

TEST_P(RecordedModel, Fp64IsCloseAndWider) {
  const std::string name = GetParam();
  const ImportedModel model = import_pt2(model_file(name + ".pt2"));
  EagerModel exact(model.graph, model.weights, true);
  for (const RecordedCase& recorded : read_cases(model_file(name + ".safetensors"))) {
    const auto outputs = exact.run(recorded.inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.refusal().reason;
    for (std::size_t i = 0; i < recorded.outputs.size(); ++i) {
      const HostTensor& wide = outputs.value()[i];
      const HostTensor& narrow = recorded.outputs[i];
      if (!is_floating(narrow.dtype)) {
        EXPECT_EQ(largest_difference(wide, narrow), 0) << name << i;
        continue;
      }
      ASSERT_EQ(wide.dtype, DType::kF64) << name << i;
      ASSERT_EQ(wide.sizes, narrow.sizes) << name << i;
      double scale = 1;
      for (std::int64_t k = 0; k < wide.element_count(); ++k) {
        scale = std::max(scale, std::fabs(element_as_double(wide, k)));
      }
      for (std::int64_t k = 0; k < wide.element_count(); ++k) {
        ASSERT_NEAR(element_as_double(wide, k), element_as_double(narrow, k), 2e-5 * scale)
            << name << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RecordedModel,
                         testing::Values("small", "small_eager", "small_bert", "small_t5",
                                         "small_gpt2_prefill", "small_gpt2_decode", "small_llama",
                                         "small_qwen", "small_vit", "small_resnet",
                                         "small_mobilenet", "small_dlrm", "small_whisper",
                                         "small_unet", "mlp", "chain", "tied", "in_place", "lists",
                                         "types", "strided"),
                         [](const auto& info) { return std::string(info.param); });

TEST(EagerModel, DistilBertOfFullDepth) {
  const auto archive =
      std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "scenarios/models/distilbert.pt2";
  const ImportedModel model = import_pt2(archive);
  EagerModel eager(model.graph, model.weights);
  for (const RecordedCase& recorded : read_cases(model_file("distilbert.safetensors"))) {
    const auto outputs = eager.run(recorded.inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.refusal().reason;
    for (std::size_t i = 0; i < recorded.outputs.size(); ++i) {
      EXPECT_LE(largest_difference(outputs.value()[i], recorded.outputs[i]), 1e-5);
    }
  }
}

TEST(EagerModel, RefusesRequestsThatDoNotFit) {
  const ImportedModel model = import_pt2(model_file("small.pt2"));
  EagerModel eager(model.graph, model.weights);
  const HostTensor good = HostTensor::zeros(DType::kI64, {1, 4});
  const HostTensor too_long = HostTensor::zeros(DType::kI64, {1, 65});
  const HostTensor wrong_type = HostTensor::zeros(DType::kF32, {1, 4});
  const HostTensor wrong_rank = HostTensor::zeros(DType::kI64, {4});
  const HostTensor other_length = HostTensor::zeros(DType::kI64, {1, 5});
  EXPECT_TRUE(eager.run(std::vector{good, good}).ok());
  EXPECT_FALSE(eager.run(std::vector{good}).ok());
  EXPECT_FALSE(eager.run(std::vector{too_long, too_long}).ok());
  EXPECT_FALSE(eager.run(std::vector{wrong_type, wrong_type}).ok());
  EXPECT_FALSE(eager.run(std::vector{wrong_rank, wrong_rank}).ok());
  EXPECT_FALSE(eager.run(std::vector{good, other_length}).ok());
}

TEST(EagerModel, TurnsLibTorchsExceptionsIntoRefusals) {
  const ImportedModel model = import_pt2(model_file("small.pt2"));
  EagerModel eager(model.graph, model.weights);
  HostTensor ids = HostTensor::zeros(DType::kI64, {1, 4});
  HostTensor mask = HostTensor::zeros(DType::kI64, {1, 4});
  ids.as<std::int64_t>()[2] = 100;  // The vocabulary ends at 99.
  const auto refused = eager.run(std::vector{ids, mask});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.refusal().reason.find("index out of range"), std::string::npos)
      << refused.refusal().reason;
  EXPECT_EQ(refused.refusal().reason.find('\n'), std::string::npos);
  ids.as<std::int64_t>()[2] = 99;
  EXPECT_TRUE(eager.run(std::vector{ids, mask}).ok());  // And works again.
}

TEST(EagerModel, OutputsOutliveTheModelAndTheInputs) {
  std::vector<HostTensor> outputs;
  {
    const ImportedModel model = import_pt2(model_file("lists.pt2"));
    EagerModel eager(model.graph, model.weights);
    std::vector<HostTensor> inputs = {HostTensor::zeros(DType::kF32, {3, 4})};
    inputs[0].as<float>()[5] = 2.5f;
    outputs = eager.run(inputs).value();
  }
  EXPECT_EQ(element_as_double(outputs[2], 2), 2.5);  // topk's values of row 1.
}

TEST(EagerModel, InputsThatAreOutputsKeepTheirStorage) {
  Graph graph("identity");
  const Sym n = graph.syms.symbol("n", {1, 64}, 2);
  const ValueId x = graph.add_input("x", {DType::kF32, {n}});
  const auto y =
      graph.add_op("aten.unsqueeze.default", {{"self", x}, {"dim", graph.syms.constant(0)}},
                   {{DType::kF32, {graph.syms.constant(1), n}}});
  graph.set_outputs({y[0], x});
  EagerModel eager(graph, {});
  std::vector<HostTensor> inputs = {HostTensor::zeros(DType::kF32, {3})};
  inputs[0].as<float>()[1] = 4;
  const void* data = inputs[0].data;
  std::vector<HostTensor> outputs = eager.run(inputs).value();
  inputs.clear();
  EXPECT_EQ(outputs[0].data, data);  // A view: nothing was copied.
  EXPECT_EQ(element_as_double(outputs[0], 1), 4);
  EXPECT_EQ(element_as_double(outputs[1], 1), 4);
}

TEST(EagerModel, RefusesUnknownOpsAndMissingWeightsAtConstruction) {
  Graph graph("bad");
  const ValueId x = graph.add_input("x", {DType::kF32, {}});
  graph.set_outputs(graph.add_op("nowhere.op.default", {{"self", x}}, {{DType::kF32, {}}}));
  EXPECT_THROW(EagerModel(graph, {}), UserError);
  Graph weightless("weightless");
  weightless.set_outputs({weightless.add_weight("w", {DType::kF32, {}})});
  EXPECT_THROW(EagerModel(weightless, {}), UserError);
}

// The baseline of every comparison must not carry costs of its own: a chain of ops on four floats
// takes what the dispatcher takes.
TEST(EagerModel, AnOpCostsAboutTheDispatchersTime) {
  Graph graph("chain");
  const TensorType type{DType::kF32, {graph.syms.constant(4)}};
  ValueId value = graph.add_input("x", type);
  constexpr int kOps = 200;
  for (int i = 0; i < kOps; ++i) {
    value = graph.add_op("aten.relu.default", {{"self", value}}, {type}).front();
    value = graph.add_op("aten.add.Tensor", {{"self", value}, {"other", value}}, {type}).front();
  }
  graph.set_outputs({value});
  EagerModel eager(graph, {});
  const std::vector<HostTensor> inputs = {HostTensor::zeros(DType::kF32, {4})};
  double best = 1e9;
  for (int i = 0; i < 30; ++i) {
    const Nanos start = now_ns();
    ASSERT_TRUE(eager.run(inputs).ok());
    best = std::min(best, static_cast<double>(now_ns() - start) / (2.0 * kOps));
  }
  RecordProperty("ns_per_op", static_cast<int>(best));
  EXPECT_LT(best, 5000);  // About 1100 where it was measured; the bound leaves room for busy hosts.
}

}  // namespace
}  // namespace breakeven
