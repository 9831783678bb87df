#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "compiler/ir/numeric.h"
#include "compiler/runtime/compiled_model.h"
#include "compiler/support/files.h"

namespace breakeven {
namespace {

HostTensor random_tensor(std::vector<std::int64_t> sizes, unsigned seed) {
  HostTensor tensor = HostTensor::empty(DType::kF32, std::move(sizes));
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, 1);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) tensor.as<float>()[i] = normal(engine);
  return tensor;
}

/// A pool of so many threads, so that results can be held against other counts.
class ThreadsFor final : public ParallelFor {
 public:
  explicit ThreadsFor(int threads) : threads_(threads) {}
  int thread_count() const override { return threads_; }
  void run(std::int64_t n, std::int64_t grain,
           const std::function<void(std::int64_t, std::int64_t)>& body) override {
    const std::int64_t chunks =
        std::clamp<std::int64_t>(n / std::max<std::int64_t>(1, grain), 1, threads_);
    std::vector<std::thread> pool;
    for (std::int64_t i = 0; i < chunks; ++i) {
      pool.emplace_back([&, i] { body(i * n / chunks, (i + 1) * n / chunks); });
    }
    for (std::thread& thread : pool) thread.join();
  }

 private:
  int threads_;
};

/// The rule of the accuracy gate for sums: the error of plain f32 sums, twice, and two ulps.
void expect_accurate(const HostTensor& got, const HostTensor& want, const HostTensor& plain) {
  ASSERT_EQ(got.sizes, want.sizes);
  double error = 0;
  double allowed = 0;
  double scale = 0;
  for (std::int64_t i = 0; i < got.element_count(); ++i) {
    const double exact = element_as_double(want, i);
    const double off = element_as_double(got, i) - exact;
    const double eager = element_as_double(plain, i) - exact;
    ASSERT_TRUE(std::isfinite(off)) << i;
    error += off * off;
    allowed += eager * eager;
    scale = std::max(scale, std::fabs(exact));
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(1, got.element_count()));
  EXPECT_LE(std::sqrt(error / count), 2 * std::sqrt(allowed / count) + 2 * scale * 0x1p-24);
}

/// rows * weight^T + bias in f32, eight sums side by side as vector code adds them.
HostTensor plain_linear(const HostTensor& rows, const HostTensor& weight, const HostTensor& bias) {
  const std::int64_t depth = rows.sizes.back();
  const std::int64_t columns = weight.sizes[0];
  std::vector<std::int64_t> sizes = rows.sizes;
  sizes.back() = columns;
  HostTensor result = HostTensor::empty(DType::kF32, sizes);
  for (std::int64_t i = 0; i < result.element_count(); ++i) {
    float sums[8] = {};
    const float* a = rows.as<float>() + i / columns * depth;
    const float* b = weight.as<float>() + i % columns * depth;
    for (std::int64_t k = 0; k < depth; ++k) sums[k % 8] = std::fma(a[k], b[k], sums[k % 8]);
    float total = bias.as<float>()[i % columns];
    for (const float sum : sums) total += sum;
    result.as<float>()[i] = total;
  }
  return result;
}

std::string linear_graph(std::int64_t depth, std::int64_t columns) {
  const std::string k = std::to_string(depth);
  const std::string n = std::to_string(columns);
  return "graph \"g\" {\n  sym b in [0, 4096] hint 3\n  sym m in [0, 4096] hint 8\n"
         "  %x = input \"x\" : f32[b, m, " +
         k +
         "]\n"
         "  %w = weight \"w\" : f32[" +
         n + ", " + k +
         "]\n"
         "  %v = weight \"v\" : f32[" +
         n +
         "]\n"
         "  %l = aten.linear.default(input=%x, weight=%w, bias=%v) : f32[b, m, " +
         n +
         "]\n"
         "  return %l\n}\n";
}

CompileOptions policy_of(ShapePolicy policy, const TempDir& cache) {
  CompileOptions options;
  options.policy = policy;
  options.cache_dir = cache.path();
  return options;
}

class ProductTest : public testing::Test {
 protected:
  /// On processors without fused multiply-add, products are the library's.
  static void expect_no_library_calls(const RuntimeCounters& counters) {
    if (__builtin_cpu_supports("fma") != 0) {
      EXPECT_EQ(counters.extern_calls, 0);
    }
  }

  TempDir cache_;
  std::unique_ptr<ExternBackend> backend_ = make_reference_backend();
  SerialFor serial_;
};

TEST_F(ProductTest, EqualsTheReferenceForRowsDepthsAndColumnsAroundTheTile) {
  for (const auto& [depth, columns] : {std::pair<std::int64_t, std::int64_t>{1, 2},
                                       {3, 16},
                                       {17, 15},
                                       {64, 33},
                                       {255, 48},
                                       {256, 31},
                                       {257, 32},
                                       {515, 47}}) {
    const Graph graph = parse_graph(linear_graph(depth, columns), "linear.ir");
    const WeightMap weights = {{"w", random_tensor({columns, depth}, 1)},
                               {"v", random_tensor({columns}, 2)}};
    CompiledModel dynamic(graph, weights, policy_of(ShapePolicy::kDynamic, cache_), *backend_,
                          serial_);
    CompiledModel fixed(graph, weights, policy_of(ShapePolicy::kStatic, cache_), *backend_,
                        serial_);
    for (const std::int64_t rows :
         {0, 1, 2, 3, 5, 6, 7, 12, 13, 14, 15, 19, 29, 31, 43, 64, 65, 97, 200, 225}) {
      for (const std::int64_t batch : {1, 2}) {
        SCOPED_TRACE(std::to_string(batch) + " x " + std::to_string(rows) + " rows, depth " +
                     std::to_string(depth) + ", columns " + std::to_string(columns));
        const std::vector<HostTensor> inputs = {
            random_tensor({batch, rows, depth}, static_cast<unsigned>(rows + 7))};
        auto got = dynamic.run(inputs);
        ASSERT_TRUE(got.ok()) << got.refusal().reason;
        const auto want = interpret_reference(graph, weights, inputs, ReferenceOutput::kF64);
        ASSERT_TRUE(want.ok());
        const HostTensor plain = plain_linear(inputs[0], weights.at("w"), weights.at("v"));
        expect_accurate(got.value().outputs[0], want.value()[0], plain);
        if (batch * rows > 64) continue;
        auto same = fixed.run(inputs);
        ASSERT_TRUE(same.ok());
        EXPECT_EQ(std::memcmp(same.value().outputs[0].data, got.value().outputs[0].data,
                              static_cast<std::size_t>(got.value().outputs[0].byte_count())),
                  0)
            << "policies differ";
      }
    }
    expect_no_library_calls(dynamic.counters());
    EXPECT_EQ(dynamic.counters().eager_requests, 0);
  }
}

TEST_F(ProductTest, DeepSumsAreAsAccurateAsVectorCode) {
  const Graph graph = parse_graph(linear_graph(8192, 32), "linear.ir");
  const WeightMap weights = {{"w", random_tensor({32, 8192}, 1)}, {"v", random_tensor({32}, 2)}};
  CompiledModel model(graph, weights, policy_of(ShapePolicy::kDynamic, cache_), *backend_, serial_);
  for (const std::int64_t rows : {1, 2, 13}) {
    const std::vector<HostTensor> inputs = {random_tensor({1, rows, 8192}, 9)};
    const auto want = interpret_reference(graph, weights, inputs, ReferenceOutput::kF64);
    expect_accurate(model.run(inputs).value().outputs[0], want.value()[0],
                    plain_linear(inputs[0], weights.at("w"), weights.at("v")));
  }
}

TEST_F(ProductTest, RowsMayLieAnywhereInAnyOrder) {
  const Graph graph = parse_graph(linear_graph(37, 29), "linear.ir");
  const WeightMap weights = {{"w", random_tensor({29, 37}, 1)}, {"v", random_tensor({29}, 2)}};
  CompiledModel model(graph, weights, policy_of(ShapePolicy::kDynamic, cache_), *backend_, serial_);
  for (const std::int64_t rows : {1, 5, 13}) {
    // Off any alignment, transposed, every other row, one row for all.
    HostTensor memory = random_tensor({rows * 2 * 40 + 3}, 5);
    for (const std::vector<std::int64_t>& strides :
         {std::vector<std::int64_t>{0, 37, 1}, {0, 1, rows}, {0, 80, 1}, {0, 0, 1}, {0, 37, 2}}) {
      HostTensor x = memory;
      x.data = memory.as<char>() + 12;
      x.sizes = {1, rows, 37};
      x.strides = strides;
      if ((rows - 1) * strides[1] + 36 * strides[2] >= rows * 2 * 40) continue;
      HostTensor dense = HostTensor::empty(DType::kF32, x.sizes);
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t k = 0; k < 37; ++k) {
          dense.as<float>()[r * 37 + k] = x.as<float>()[r * strides[1] + k * strides[2]];
        }
      }
      auto got = model.run(std::vector<HostTensor>{x});
      ASSERT_TRUE(got.ok());
      const auto want = interpret_reference(graph, weights, std::vector<HostTensor>{dense},
                                            ReferenceOutput::kF64);
      expect_accurate(got.value().outputs[0], want.value()[0],
                      plain_linear(dense, weights.at("w"), weights.at("v")));
    }
  }
}

TEST_F(ProductTest, NoDepthNoRowsAndOneColumnAreAnsweredToo) {
  for (const auto& [depth, columns] :
       {std::pair<std::int64_t, std::int64_t>{0, 4}, {5, 1}, {1, 1}, {5, 0}}) {
    const Graph graph = parse_graph(linear_graph(depth, columns), "linear.ir");
    const WeightMap weights = {{"w", random_tensor({columns, depth}, 1)},
                               {"v", random_tensor({columns}, 2)}};
    CompiledModel model(graph, weights, policy_of(ShapePolicy::kDynamic, cache_), *backend_,
                        serial_);
    for (const std::int64_t rows : {0, 1, 3}) {
      const std::vector<HostTensor> inputs = {random_tensor({1, rows, depth}, 4)};
      auto got = model.run(inputs);
      ASSERT_TRUE(got.ok()) << got.refusal().reason;
      const auto want = interpret_reference(graph, weights, inputs);
      ASSERT_EQ(got.value().outputs[0].sizes, want.value()[0].sizes);
      for (std::int64_t i = 0; i < want.value()[0].element_count(); ++i) {
        EXPECT_NEAR(got.value().outputs[0].as<float>()[i], want.value()[0].as<float>()[i], 1e-5);
      }
    }
  }
}

TEST_F(ProductTest, TheAnswerDoesNotDependOnTheNumberOfThreads) {
  const Graph graph = parse_graph(linear_graph(300, 200), "linear.ir");
  const WeightMap weights = {{"w", random_tensor({200, 300}, 1)}, {"v", random_tensor({200}, 2)}};
  for (const std::int64_t rows : {1, 13, 150}) {
    const std::vector<HostTensor> inputs = {random_tensor({1, rows, 300}, 4)};
    std::vector<HostTensor> answers;
    for (const int threads : {1, 2, 3, 7}) {
      ThreadsFor parallel(threads);
      CompiledModel model(graph, weights, policy_of(ShapePolicy::kDynamic, cache_), *backend_,
                          parallel);
      answers.push_back(model.run(inputs).value().outputs[0]);
      EXPECT_EQ(std::memcmp(answers.front().data, answers.back().data,
                            static_cast<std::size_t>(answers.front().byte_count())),
                0)
          << threads << " threads, " << rows << " rows";
    }
  }
}

TEST_F(ProductTest, ProgramsOfOneModelShareTheirPackedWeights) {
  const Graph graph = parse_graph(linear_graph(300, 200), "linear.ir");
  const WeightMap weights = {{"w", random_tensor({200, 300}, 1)}, {"v", random_tensor({200}, 2)}};
  CompiledModel model(graph, weights, policy_of(ShapePolicy::kStatic, cache_), *backend_, serial_);
  std::vector<std::int64_t> packed;
  for (const std::int64_t rows : {3, 5}) {
    auto result = model.run(std::vector<HostTensor>{random_tensor({1, rows, 300}, 4)});
    ASSERT_TRUE(result.ok());
    ASSERT_EQ(result.value().compiles.size(), 1u);
    packed.push_back(result.value().compiles[0].packed_bytes);
  }
  if (__builtin_cpu_supports("fma") == 0) return;
  EXPECT_GE(packed[0], 200 * 300 * 4);
  EXPECT_LE(packed[0], 224 * 300 * 4);
  EXPECT_EQ(packed[1], 0);
}

struct Form {
  const char* name;
  const char* text;
  int kernels;
};

const Form kForms[] = {
    {"gelu_residual",
     "  %x = input \"x\" : f32[m, 40]\n  %r = input \"r\" : f32[m, 24]\n"
     "  %w = weight \"w\" : f32[24, 40]\n  %v = weight \"v\" : f32[24]\n"
     "  %l = aten.linear.default(input=%x, weight=%w, bias=%v) : f32[m, 24]\n"
     "  %g = aten.gelu.default(self=%l) : f32[m, 24]\n"
     "  %a = aten.add.Tensor(self=%g, other=%r) : f32[m, 24]\n  return %a\n",
     1},
    {"cast_and_two_outputs",
     "  %x = input \"x\" : f32[m, 40]\n  %w = weight \"w\" : f32[24, 40]\n"
     "  %l = aten.linear.default(input=%x, weight=%w) : f32[m, 24]\n"
     "  %s = aten.silu.default(self=%l) : f32[m, 24]\n"
     "  %c = aten._to_copy.default(self=%s, dtype=bf16) : bf16[m, 24]\n  return %l, %c\n",
     1},
    {"mm",
     "  %x = input \"x\" : f32[m, 40]\n  %w = weight \"w\" : f32[40, 24]\n"
     "  %l = aten.mm.default(self=%x, mat2=%w) : f32[m, 24]\n  return %l\n",
     1},
    {"mm_of_a_transposed_weight",
     "  %x = input \"x\" : f32[m, 40]\n  %w = weight \"w\" : f32[24, 40]\n"
     "  %t = aten.t.default(self=%w) : f32[40, 24]\n"
     "  %l = aten.mm.default(self=%x, mat2=%t) : f32[m, 24]\n  return %l\n",
     1},
    {"addmm",
     "  %x = input \"x\" : f32[m, 40]\n  %w = weight \"w\" : f32[40, 24]\n"
     "  %v = weight \"v\" : f32[24]\n"
     "  %l = aten.addmm.default(self=%v, mat1=%x, mat2=%w) : f32[m, 24]\n"
     "  %s = aten.relu.default(self=%l) : f32[m, 24]\n  return %s\n",
     1},
    {"matmul_of_four_dims",
     "  %x = input \"x\" : f32[2, m, 2, 40]\n  %w = weight \"w\" : f32[40, 24]\n"
     "  %l = aten.matmul.default(self=%x, other=%w) : f32[2, m, 2, 24]\n  return %l\n",
     1},
    {"row_norm_after",
     "  %x = input \"x\" : f32[m, 40]\n  %w = weight \"w\" : f32[24, 40]\n"
     "  %l = aten.linear.default(input=%x, weight=%w) : f32[m, 24]\n"
     "  %s = aten.softmax.int(self=%l, dim=-1) : f32[m, 24]\n  return %s\n",
     2},
    {"rows_also_in_the_epilogue",
     "  %x = input \"x\" : f32[m, 24]\n  %w = weight \"w\" : f32[24, 24]\n"
     "  %t = aten.tanh.default(self=%x) : f32[m, 24]\n"
     "  %l = aten.linear.default(input=%t, weight=%w) : f32[m, 24]\n"
     "  %a = aten.add.Tensor(self=%l, other=%t) : f32[m, 24]\n  return %a\n",
     2},
    {"gate",
     "  %x = input \"x\" : f32[m, 40]\n  %w = weight \"w\" : f32[24, 40]\n"
     "  %u = weight \"u\" : f32[24, 40]\n"
     "  %g = aten.linear.default(input=%x, weight=%w) : f32[m, 24]\n"
     "  %p = aten.linear.default(input=%x, weight=%u) : f32[m, 24]\n"
     "  %s = aten.silu.default(self=%g) : f32[m, 24]\n"
     "  %a = aten.mul.Tensor(self=%s, other=%p) : f32[m, 24]\n  return %a\n",
     2},
    {"product_read_in_another_order",
     "  %x = input \"x\" : f32[m, 40]\n  %w = weight \"w\" : f32[24, 40]\n"
     "  %l = aten.linear.default(input=%x, weight=%w) : f32[m, 24]\n"
     "  %p = aten.permute.default(self=%l, dims=[1, 0]) : f32[24, m]\n"
     "  %e = aten.exp.default(self=%p) : f32[24, m]\n  return %e\n",
     2},
    {"rows_broadcast_in_the_epilogue",
     "  %x = input \"x\" : f32[2, m, 40]\n  %r = input \"r\" : f32[m, 24]\n"
     "  %w = weight \"w\" : f32[24, 40]\n"
     "  %l = aten.linear.default(input=%x, weight=%w) : f32[2, m, 24]\n"
     "  %a = aten.add.Tensor(self=%l, other=%r) : f32[2, m, 24]\n  return %a\n",
     1},
};

class ProductFormTest : public ProductTest,
                        public testing::WithParamInterface<std::tuple<int, ShapePolicy>> {};

TEST_P(ProductFormTest, EqualsTheReferenceInOneKernel) {
  const Form& form = kForms[std::get<0>(GetParam())];
  const Graph graph = parse_graph(
      std::string("graph \"g\" {\n  sym m in [0, 64] hint 3\n") + form.text + "}\n", form.name);
  WeightMap weights;
  unsigned seed = 1;
  for (const Node& node : graph.nodes()) {
    if (node.kind != NodeKind::kWeight) continue;
    std::vector<std::int64_t> sizes;
    for (const Sym size : graph.type(node.outputs[0]).sizes) {
      sizes.push_back(*graph.syms.as_constant(size));
    }
    weights[node.name] = random_tensor(sizes, seed++);
  }
  CompiledModel model(graph, weights, policy_of(std::get<1>(GetParam()), cache_), *backend_,
                      serial_);
  for (const std::int64_t rows : {2, 7, 13}) {
    std::vector<HostTensor> inputs;
    for (const ValueId input : graph.inputs()) {
      std::vector<std::int64_t> sizes;
      for (const Sym size : graph.type(input).sizes) {
        sizes.push_back(graph.syms.evaluate(size, std::vector<std::int64_t>{rows}));
      }
      inputs.push_back(random_tensor(sizes, seed++));
    }
    auto got = model.run(inputs);
    ASSERT_TRUE(got.ok()) << got.refusal().reason;
    const auto want = interpret_reference(graph, weights, inputs);
    ASSERT_EQ(got.value().outputs.size(), want.value().size());
    for (std::size_t o = 0; o < want.value().size(); ++o) {
      const HostTensor& answer = got.value().outputs[o];
      const double step = answer.dtype == DType::kBF16 ? 0x1p-8 : 1e-5;
      for (std::int64_t i = 0; i < answer.element_count(); ++i) {
        const double exact = element_as_double(want.value()[o], i);
        ASSERT_NEAR(element_as_double(answer, i), exact, step * std::max(1.0, std::fabs(exact)))
            << form.name << " output " << o << " element " << i;
      }
    }
    EXPECT_EQ(model.kernels_per_request(inputs), form.kernels);
  }
  expect_no_library_calls(model.counters());
}

INSTANTIATE_TEST_SUITE_P(Forms, ProductFormTest,
                         testing::Combine(testing::Range(0, static_cast<int>(std::size(kForms))),
                                          testing::Values(ShapePolicy::kStatic,
                                                          ShapePolicy::kDynamic)),
                         [](const auto& info) {
                           return std::string(kForms[std::get<0>(info.param)].name) +
                                  (std::get<1>(info.param) == ShapePolicy::kStatic ? "_static"
                                                                                   : "_dynamic");
                         });

}  // namespace
}  // namespace breakeven
