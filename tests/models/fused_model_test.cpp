#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "compiler/runtime/compiled_model.h"
#include "compiler/support/files.h"
#include "compiler/support/subprocess.h"
#include "compiler/torch/torch_backend.h"
#include "harness/measure/accuracy.h"
#include "tests/models/safetensors.h"

namespace breakeven {
namespace {

constexpr const char* kCacheVariable = "BREAKEVEN_TEST_CACHE";

/// What one request of the six-layer encoder is made of, whatever its shape.
constexpr int kLibraryCalls = 6;      // The attention of each layer.
constexpr int kProducts = 6 * 6 + 2;  // Per layer four of attention and two after; the head's two.
constexpr int kKernels = kProducts + 14;

ImportedModel import_distilbert() {
  return import_pt2(std::filesystem::path(BREAKEVEN_SOURCE_DIR) /
                    "scenarios/models/distilbert.pt2");
}

/// A request of the encoder; with `padding` the last row's tail is masked out.
std::vector<HostTensor> request(std::int64_t batch, std::int64_t length, std::int64_t vocabulary,
                                bool padding = false) {
  std::mt19937_64 random(static_cast<std::uint64_t>(batch * 1000 + length));
  HostTensor ids = HostTensor::empty(DType::kI64, {batch, length});
  HostTensor mask = HostTensor::empty(DType::kI64, {batch, length});
  for (std::int64_t i = 0; i < batch * length; ++i) {
    ids.as<std::int64_t>()[i] =
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(vocabulary));
    const bool is_tail = i >= batch * length - length / 3;
    mask.as<std::int64_t>()[i] = padding && is_tail ? 0 : 1;
  }
  return {ids, mask};
}

/// Ops that a program left to the library.
std::set<std::string> library_ops(const CompiledModel& model) {
  std::set<std::string> ops;
  for (const Fallback& fallback : model.fallbacks()) ops.insert(fallback.what);
  return ops;
}

class FusedModel : public testing::Test {
 protected:
  CompileOptions options(ShapePolicy policy) const {
    CompileOptions options;
    options.policy = policy;
    options.cache_dir = cache_.path();
    return options;
  }

  TempDir cache_{"breakeven-fused-test"};
  std::unique_ptr<ExternBackend> backend_ = make_aten_backend();
  std::unique_ptr<ParallelFor> parallel_ = make_aten_parallel();
};

class FusedAccuracy : public FusedModel, public testing::WithParamInterface<ShapePolicy> {
 protected:
  /// Runs `shapes` and holds each answer to METHOD's rule.
  void expect_accurate(const ImportedModel& model, std::int64_t vocabulary,
                       std::span<const std::pair<int, int>> shapes) {
    EagerModel eager(model.graph, model.weights);
    EagerModel exact(model.graph, model.weights, true);
    CompiledModel fused(model.graph, model.weights, options(GetParam()), *backend_, *parallel_);
    for (const auto& [batch, length] : shapes) {
      const auto inputs = request(batch, length, vocabulary, batch > 1);
      auto answer = fused.run(inputs);
      ASSERT_TRUE(answer.ok()) << answer.refusal().reason;
      EXPECT_FALSE(answer.value().eager) << batch << "x" << length;
      const AccuracyOutputs outputs{eager.run(inputs).value(), eager.run(inputs).value(),
                                    exact.run(inputs).value(), answer.value().outputs};
      const AccuracyRecord record =
          judge_accuracy("fused", std::to_string(batch) + "x" + std::to_string(length), outputs);
      EXPECT_TRUE(record.ok) << record.shape << ": rmse " << record.rmse_arm << ", limit "
                             << record.limit;
    }
    const RuntimeCounters counters = fused.counters();
    EXPECT_EQ(counters.eager_requests, 0);
    EXPECT_EQ(counters.programs,
              GetParam() == ShapePolicy::kStatic ? static_cast<int>(shapes.size()) : 1);
  }
};

TEST_P(FusedAccuracy, SmallEncodersAtEveryLength) {
  std::vector<std::pair<int, int>> shapes;
  for (int length = 1; length <= 64; length += GetParam() == ShapePolicy::kStatic ? 9 : 3) {
    shapes.emplace_back(1, length);
  }
  shapes.emplace_back(3, 17);
  for (const char* file : {"small.pt2", "small_eager.pt2", "small_bert.pt2"}) {
    SCOPED_TRACE(file);
    expect_accurate(import_pt2(model_file(file)), 100, shapes);
  }
}

TEST_P(FusedAccuracy, DistilBert) {
  constexpr std::pair<int, int> kShapes[] = {{1, 1}, {1, 13}, {1, 26}, {1, 64}, {2, 7}};
  expect_accurate(import_distilbert(), 30522, kShapes);
}

/// A recorded model and the ops that its programs leave to the library.
struct Family {
  const char* model;
  std::set<std::string> library;
};

const std::string kAttention = "aten.scaled_dot_product_attention.default";
const std::string kConcat = "aten.cat.default";
const std::string kConv = "aten.conv2d.default";
const std::string kLinear = "aten.linear.default";
const std::string kPool = "aten.adaptive_avg_pool2d.default";
const Family kFamilies[] = {
    {"small_t5", {"aten.matmul.default"}},
    {"small_gpt2_prefill", {kConcat, kAttention}},
    {"small_gpt2_decode", {kConcat, kAttention}},
    {"small_llama", {kConcat, kAttention}},
    {"small_qwen", {kConcat, kAttention}},
    {"small_vit", {kConcat, kConv, kAttention}},
    {"small_resnet", {kConv, kPool, "aten.max_pool2d.default"}},
    {"small_mobilenet", {kConv, kPool}},
    {"small_dlrm", {"aten.bmm.default", kConcat, kLinear}},
    {"small_whisper", {"aten.conv1d.default", kAttention}},
    {"small_unet", {kConv, kAttention}},
    {"mlp", {}},
    {"chain", {}},
};

TEST_P(FusedAccuracy, ModelsOfEveryFamily) {
  for (const Family& family : kFamilies) {
    SCOPED_TRACE(family.model);
    const ImportedModel model = import_pt2(model_file(std::string(family.model) + ".pt2"));
    EagerModel exact(model.graph, model.weights, true);
    CompiledModel fused(model.graph, model.weights, options(GetParam()), *backend_, *parallel_);
    for (const RecordedCase& recorded :
         read_cases(model_file(std::string(family.model) + ".safetensors"))) {
      auto answer = fused.run(recorded.inputs);
      ASSERT_TRUE(answer.ok()) << answer.refusal().reason;
      EXPECT_FALSE(answer.value().eager);
      const AccuracyOutputs outputs{recorded.outputs, recorded.outputs,
                                    exact.run(recorded.inputs).value(), answer.value().outputs};
      const AccuracyRecord record = judge_accuracy("fused", family.model, outputs);
      EXPECT_TRUE(record.ok) << "rmse " << record.rmse_arm << ", limit " << record.limit;
    }
    std::set<std::string> library = library_ops(fused);
    // Where a program knows its rows, large products go where they were faster just now.
    if (GetParam() == ShapePolicy::kStatic && !family.library.contains(kLinear)) {
      library.erase(kLinear);
    }
    EXPECT_EQ(library, family.library);
  }
}

TEST_P(FusedAccuracy, FeatureModelsRunWithWhateverIsNotFused) {
  for (const char* name : {"tied", "in_place", "lists", "types", "strided"}) {
    SCOPED_TRACE(name);
    const ImportedModel model = import_pt2(model_file(std::string(name) + ".pt2"));
    CompiledModel fused(model.graph, model.weights, options(GetParam()), *backend_, *parallel_);
    for (const RecordedCase& recorded :
         read_cases(model_file(std::string(name) + ".safetensors"))) {
      auto answer = fused.run(recorded.inputs);
      ASSERT_TRUE(answer.ok()) << answer.refusal().reason;
      ASSERT_EQ(answer.value().outputs.size(), recorded.outputs.size());
      for (std::size_t i = 0; i < recorded.outputs.size(); ++i) {
        EXPECT_LE(largest_difference(answer.value().outputs[i], recorded.outputs[i]), 1e-5) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, FusedAccuracy,
                         testing::Values(ShapePolicy::kStatic, ShapePolicy::kDynamic),
                         [](const auto& info) {
                           return info.param == ShapePolicy::kStatic ? "Static" : "Dynamic";
                         });

// Products, everything pointwise, every norm and softmax is generated: what is left to the library
// is attention, and a request takes exactly this many launches.
TEST_F(FusedModel, DistilBertLeavesOnlyAttentionToTheLibrary) {
  const ImportedModel model = import_distilbert();
  for (const ShapePolicy policy : {ShapePolicy::kStatic, ShapePolicy::kDynamic}) {
    CompiledModel fused(model.graph, model.weights, options(policy), *backend_, *parallel_);
    const auto inputs = request(1, 13, 30522);
    ASSERT_TRUE(fused.run(inputs).ok());
    EXPECT_EQ(library_ops(fused),
              (std::set<std::string>{"aten.scaled_dot_product_attention.default"}));
    EXPECT_EQ(fused.kernels_per_request(inputs), kKernels);
    const RuntimeCounters before = fused.counters();
    ASSERT_TRUE(fused.run(inputs).ok());
    const RuntimeCounters after = fused.counters();
    EXPECT_EQ(after.kernel_launches - before.kernel_launches, kKernels);
    EXPECT_EQ(after.extern_calls - before.extern_calls, kLibraryCalls);
  }
}

// The check above means something only if it fails without fusion.
TEST_F(FusedModel, WithoutFusionEverythingIsLeftToTheLibrary) {
  const ImportedModel model = import_distilbert();
  CompileOptions plain = options(ShapePolicy::kStatic);
  plain.fuse = false;
  CompiledModel unfused(model.graph, model.weights, plain, *backend_, *parallel_);
  const auto inputs = request(1, 13, 30522);
  ASSERT_TRUE(unfused.run(inputs).ok());
  EXPECT_EQ(unfused.kernels_per_request(inputs), 0);
  EXPECT_GT(unfused.counters().extern_calls, kLibraryCalls + kKernels);
  EXPECT_GT(library_ops(unfused).size(), 2u);
}

// Layers share their kernels: a deeper encoder compiles no more of them.
TEST_F(FusedModel, LayersShareKernels) {
  const ImportedModel model = import_distilbert();
  CompiledModel fused(model.graph, model.weights, options(ShapePolicy::kDynamic), *backend_,
                      *parallel_);
  ASSERT_TRUE(fused.run(request(1, 13, 30522)).ok());
  EXPECT_GT(fused.counters().kernels_compiled, 0);
  EXPECT_LE(fused.counters().kernels_compiled, kKernels - 5 * 8);
}

TEST_F(FusedModel, StaticCompilesOncePerShapeAndDynamicOnce) {
  const ImportedModel model = import_pt2(model_file("small.pt2"));
  for (const ShapePolicy policy : {ShapePolicy::kStatic, ShapePolicy::kDynamic}) {
    CompiledModel fused(model.graph, model.weights, options(policy), *backend_, *parallel_);
    const bool is_static = policy == ShapePolicy::kStatic;
    const auto first = fused.run(request(1, 5, 100));
    ASSERT_TRUE(first.ok());
    ASSERT_EQ(first.value().compiles.size(), 1u);
    EXPECT_EQ(first.value().compiles[0].trigger, CompileTrigger::kFirst);
    EXPECT_TRUE(fused.run(request(1, 5, 100)).value().compiles.empty());
    const auto other = fused.run(request(1, 6, 100));
    ASSERT_TRUE(other.ok());
    ASSERT_EQ(other.value().compiles.size(), is_static ? 1u : 0u);
    if (is_static) {
      const CompileEvent& event = other.value().compiles[0];
      EXPECT_EQ(event.trigger, CompileTrigger::kRecompile);
      EXPECT_NE(event.failed_guard.find("5"), std::string::npos) << event.failed_guard;
      EXPECT_NE(event.failed_guard.find("6"), std::string::npos) << event.failed_guard;
      EXPECT_FALSE(event.origin.empty());
    }
  }
}

// Run by SecondProcessCompilesNothing in a process of its own.
TEST_F(FusedModel, ChildOfSecondProcess) {
  const char* cache = std::getenv(kCacheVariable);
  if (cache == nullptr) GTEST_SKIP() << "runs as a child of SecondProcessCompilesNothing";
  const ImportedModel model = import_pt2(model_file("small.pt2"));
  for (const ShapePolicy policy : {ShapePolicy::kStatic, ShapePolicy::kDynamic}) {
    CompileOptions warm = options(policy);
    warm.cache_dir = cache;
    CompiledModel fused(model.graph, model.weights, warm, *backend_, *parallel_);
    ASSERT_TRUE(fused.run(request(1, 5, 100)).ok());
    EXPECT_EQ(fused.counters().kernels_compiled, 0);
    EXPECT_GT(fused.counters().kernels_from_disk, 0);
    EXPECT_EQ(fused.counters().bad_cache_files, 0);
  }
}

TEST_F(FusedModel, SecondProcessCompilesNothing) {
  const ImportedModel model = import_pt2(model_file("small.pt2"));
  for (const ShapePolicy policy : {ShapePolicy::kStatic, ShapePolicy::kDynamic}) {
    CompiledModel fused(model.graph, model.weights, options(policy), *backend_, *parallel_);
    ASSERT_TRUE(fused.run(request(1, 5, 100)).ok());
    EXPECT_GT(fused.counters().kernels_compiled, 0);
  }
  SubprocessOptions child;
  child.argv = {executable_path().string(), "--gtest_filter=FusedModel.ChildOfSecondProcess"};
  child.environment = {std::string(kCacheVariable) + "=" + cache_.path().string()};
  child.timeout = Nanos{120} * 1'000'000'000;
  const SubprocessResult result = run_subprocess(child);
  EXPECT_EQ(result.describe(), "exited with 0") << result.standard_output;
  EXPECT_EQ(result.standard_output.find("SKIPPED"), std::string::npos);
}

TEST_F(FusedModel, RefusesRequestsThatDoNotFit) {
  const ImportedModel model = import_pt2(model_file("small.pt2"));
  CompiledModel fused(model.graph, model.weights, options(ShapePolicy::kStatic), *backend_,
                      *parallel_);
  const HostTensor ids = HostTensor::zeros(DType::kI64, {1, 4});
  const HostTensor reals = HostTensor::zeros(DType::kF32, {1, 4});
  EXPECT_FALSE(fused.run(std::vector{ids}).ok());
  EXPECT_FALSE(fused.run(std::vector{reals, reals}).ok());
  EXPECT_TRUE(fused.run(std::vector{ids, ids}).ok());
}

}  // namespace
}  // namespace breakeven
