// What a request costs besides its kernels. A program of its own: it counts every allocation.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "compiler/ir/reference.h"
#include "compiler/runtime/compiled_model.h"
#include "compiler/support/files.h"

namespace {
std::atomic<std::int64_t> allocations = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++allocations;
  void* memory = nullptr;
  const std::size_t least = std::max(alignment, sizeof(void*));
  return ::posix_memalign(&memory, least, bytes) == 0 ? memory : nullptr;
}

namespace breakeven {
namespace {

constexpr const char* kGraph =
    "graph \"g\" {\n  sym b in [1, 64] hint 3\n  sym n in [1, 4096] hint 8\n"
    "  %x = input \"x\" : f32[b, n]\n"
    "  %s = aten._softmax.default(self=%x, dim=-1, half_to_float=false) : f32[b, n]\n"
    "  %t = aten.sum.dim_IntList(self=%s, dim=[0], keepdim=true) : f32[1, n]\n"
    "  %y = aten.mul.Tensor(self=%x, other=%t) : f32[b, n]\n  return %y, %t\n}\n";

class HotPath : public testing::TestWithParam<ShapePolicy> {
 protected:
  HotPath() {
    CompileOptions options;
    options.policy = GetParam();
    options.cache_dir = cache_.path();
    model_ = std::make_unique<CompiledModel>(graph_, WeightMap{}, options, *backend_, serial_);
  }
  static std::vector<HostTensor> request(std::int64_t b, std::int64_t n, float first) {
    HostTensor x = HostTensor::zeros(DType::kF32, {b, n});
    x.as<float>()[0] = first;
    return {x};
  }
  std::vector<double> answer(const std::vector<HostTensor>& outputs) const {
    std::vector<double> values;
    for (std::int64_t i = 0; i < outputs[0].element_count(); ++i) {
      values.push_back(element_as_double(outputs[0], i));
    }
    return values;
  }

  Graph graph_ = parse_graph(kGraph, "hot");
  std::unique_ptr<ExternBackend> backend_ = make_reference_backend();
  SerialFor serial_;
  TempDir cache_;
  std::unique_ptr<CompiledModel> model_;
};

TEST_P(HotPath, ARequestAllocatesNothing) {
  CompiledModel::RunResult result;
  const auto small = request(2, 9, 1);
  const auto large = request(5, 300, 1);
  for (int warm = 0; warm < 2; ++warm) {
    for (const auto* inputs : {&small, &large}) ASSERT_TRUE(model_->run(*inputs, result).ok());
  }
  ASSERT_FALSE(result.eager) << model_->fallbacks().at(0).reason;
  ASSERT_GE(model_->kernels_per_request(small), 2) << "the arena is part of what is counted";
  const std::int64_t before = allocations;
  int ok = 0;
  for (int i = 0; i < 100; ++i) ok += model_->run(i % 3 == 0 ? small : large, result).ok();
  EXPECT_EQ(allocations - before, 0);
  EXPECT_EQ(ok, 100);
}

TEST_P(HotPath, AnAnswerThatIsKeptIsNotWrittenOver) {
  CompiledModel::RunResult kept;
  ASSERT_TRUE(model_->run(request(2, 9, 1), kept).ok());
  const std::vector<double> then = answer(kept.outputs);
  const HostTensor part = kept.outputs[0];
  const void* memory = part.data;
  kept.outputs.clear();
  for (const float first : {2.0F, 3.0F}) {
    const auto inputs = request(2, 9, first);
    CompiledModel::RunResult other;
    ASSERT_TRUE(model_->run(inputs, other).ok());
    EXPECT_NE(other.outputs[0].data, memory);
    EXPECT_NE(answer(other.outputs), then);
    const auto want = interpret_reference(graph_, {}, inputs);
    EXPECT_NEAR(answer(other.outputs)[0], answer(want.value())[0], 1e-5);
  }
  EXPECT_EQ(answer({part}), then);
}

// The reference backend copies where a view would do: such a view is made in every run.
TEST_P(HotPath, AViewThatIsACopyFollowsItsOperand) {
  const Graph graph = parse_graph(
      "graph \"v\" {\n  sym b in [1, 64] hint 3\n  sym n in [1, 64] hint 8\n"
      "  %x = input \"x\" : f32[b, n]\n"
      "  %s = aten._softmax.default(self=%x, dim=-1, half_to_float=false) : f32[b, n]\n"
      "  %v = aten.permute.default(self=%s, dims=[1, 0]) : f32[n, b]\n"
      "  %y = aten.mm.default(self=%v, mat2=%x) : f32[n, n]\n  return %y\n}\n",
      "view");
  CompileOptions options;
  options.policy = GetParam();
  CompiledModel model(graph, {}, options, *backend_, serial_);
  for (const float first : {1.0F, 5.0F, 2.0F}) {
    const auto inputs = request(3, 7, first);
    auto run = model.run(inputs);
    ASSERT_TRUE(run.ok()) << run.refusal().reason;
    ASSERT_FALSE(run.value().eager);
    const auto want = interpret_reference(graph, {}, inputs);
    EXPECT_NEAR(answer(run.value().outputs)[0], answer(want.value())[0], 1e-5);
  }
}

TEST_P(HotPath, ThreadsThatKeepAnswersGetTheirOwn) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto inputs = request(2, 9, static_cast<float>(t));
      const auto want = answer(interpret_reference(graph_, {}, inputs).value());
      for (int round = 0; round < 200; ++round) {
        auto run = model_->run(inputs);
        if (!run.ok()) continue;
        std::this_thread::yield();
        const auto got = answer(run.value().outputs);
        bool same = got.size() == want.size();
        for (std::size_t i = 0; same && i < got.size(); ++i) {
          same = std::abs(got[i] - want[i]) < 1e-5;
        }
        right += same;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 800);
}

INSTANTIATE_TEST_SUITE_P(All, HotPath, testing::Values(ShapePolicy::kStatic, ShapePolicy::kDynamic),
                         [](const testing::TestParamInfo<ShapePolicy>& info) {
                           return info.param == ShapePolicy::kStatic ? "static" : "dynamic";
                         });

}  // namespace
}  // namespace breakeven
