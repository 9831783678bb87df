#include "compiler/runtime/compiled_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "compiler/ir/numeric.h"
#include "compiler/support/error.h"
#include "compiler/support/files.h"

namespace breakeven {
namespace {

/// Fills a tensor with seeded values; integers in [0, 5].
HostTensor random_tensor(DType dtype, std::vector<std::int64_t> sizes, unsigned seed) {
  HostTensor tensor = HostTensor::empty(dtype, std::move(sizes));
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(0, 2);
  const auto width = static_cast<std::size_t>(size_of(dtype));
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const double value = is_floating(dtype) ? normal(engine) : static_cast<double>(engine() % 6);
    encode_element(dtype, value,
                   static_cast<char*>(tensor.data) + static_cast<std::size_t>(i) * width);
  }
  return tensor;
}

/// Largest error in ulps of the output's scale, NaN and infinity masks compared exactly.
double worst_ulp(const HostTensor& got, const HostTensor& want) {
  EXPECT_EQ(got.sizes, want.sizes);
  EXPECT_EQ(got.dtype, want.dtype);
  if (got.sizes != want.sizes) return HUGE_VAL;
  double scale = 0;
  for (std::int64_t i = 0; i < want.element_count(); ++i) {
    const double w = element_as_double(want, i);
    if (std::isfinite(w)) scale = std::max(scale, std::fabs(w));
  }
  const double epsilon = want.dtype == DType::kF64    ? 0x1p-52
                         : want.dtype == DType::kF16  ? 0x1p-10
                         : want.dtype == DType::kBF16 ? 0x1p-7
                                                      : 0x1p-23;
  double worst = 0;
  for (std::int64_t i = 0; i < want.element_count(); ++i) {
    const double g = element_as_double(got, i);
    const double w = element_as_double(want, i);
    if (std::isnan(g) != std::isnan(w) || std::isinf(g) != std::isinf(w)) return HUGE_VAL;
    if (std::isfinite(w)) worst = std::max(worst, std::fabs(g - w) / std::max(scale, 1e-30));
  }
  return worst / epsilon;
}

struct Case {
  const char* name;
  const char* text;
  std::vector<DType> input_dtypes;
  std::vector<std::vector<const char*>> input_dims;  ///< "b", "n", or a number.
  double ulps;
  int kernels;
};

std::string graph_text(const std::string& head, const std::string& body) {
  return "graph \"g\" {\n  sym b in [0, 4096] hint 3\n  sym n in [0, 100000] hint 8\n" + head +
         body + "}\n";
}

const Case kCases[] = {
    {"pointwise",
     "  %x = input \"x\" : f32[b, n]\n  %y = input \"y\" : f32[n]\n"
     "  %a = aten.add.Tensor(self=%x, other=%y) : f32[b, n]\n"
     "  %t = aten.tanh.default(self=%a) : f32[b, n]\n"
     "  %m = aten.mul.Tensor(self=%t, other=%x) : f32[b, n]\n  return %m\n",
     {DType::kF32, DType::kF32},
     {{"b", "n"}, {"n"}},
     8,
     1},
    {"softmax",
     "  %x = input \"x\" : f32[b, n]\n"
     "  %s = aten.softmax.int(self=%x, dim=-1) : f32[b, n]\n  return %s\n",
     {DType::kF32},
     {{"b", "n"}},
     8,
     1},
    {"log_softmax",
     "  %x = input \"x\" : f32[b, n]\n"
     "  %s = aten.log_softmax.int(self=%x, dim=-1) : f32[b, n]\n  return %s\n",
     {DType::kF32},
     {{"b", "n"}},
     8,
     1},
    {"norm_chain",
     "  %x = input \"x\" : f32[b, n, 24]\n  %r = input \"r\" : f32[b, n, 24]\n"
     "  %w = input \"w\" : f32[24]\n  %v = input \"v\" : f32[24]\n"
     "  %a = aten.add.Tensor(self=%x, other=%r) : f32[b, n, 24]\n"
     "  %l = aten.layer_norm.default(input=%a, normalized_shape=[24], weight=%w, bias=%v, "
     "eps=1e-12) : f32[b, n, 24]\n"
     "  %g = aten.gelu.default(self=%l) : f32[b, n, 24]\n  return %g\n",
     {DType::kF32, DType::kF32, DType::kF32, DType::kF32},
     {{"b", "n", "24"}, {"b", "n", "24"}, {"24"}, {"24"}},
     16,
     1},
    {"sum_rows",
     "  %x = input \"x\" : f32[b, n]\n"
     "  %s = aten.sum.dim_IntList(self=%x, dim=[1]) : f32[b]\n  return %s\n",
     {DType::kF32},
     {{"b", "n"}},
     64,  // Of the sum, which may be small beside what was added up.
     1},
    {"bf16_silu",
     "  %x = input \"x\" : bf16[b, n]\n  %s = aten.silu.default(self=%x) : bf16[b, n]\n"
     "  %m = aten.mul.Tensor(self=%s, other=%x) : bf16[b, n]\n  return %m\n",
     {DType::kBF16},
     {{"b", "n"}},
     3,
     1},
    {"f64_softmax",
     "  %x = input \"x\" : f64[b, n]\n"
     "  %s = aten.softmax.int(self=%x, dim=1) : f64[b, n]\n  return %s\n",
     {DType::kF64},
     {{"b", "n"}},
     16,
     1},
    {"integers",
     "  %x = input \"x\" : i64[b, n]\n"
     "  %a = aten.mul.Scalar(self=%x, other=3) : i64[b, n]\n"
     "  %c = aten.gt.Scalar(self=%a, other=6) : bool[b, n]\n"
     "  %w = aten.where.self(condition=%c, self=%a, other=%x) : i64[b, n]\n  return %w\n",
     {DType::kI64},
     {{"b", "n"}},
     0,
     1},
    {"transpose_view",
     "  %x = input \"x\" : f32[b, n]\n"
     "  %p = aten.permute.default(self=%x, dims=[1, 0]) : f32[n, b]\n"
     "  %e = aten.exp.default(self=%p) : f32[n, b]\n  return %e\n",
     {DType::kF32},
     {{"b", "n"}},
     8,
     1},
};

class CompiledModelTest : public testing::TestWithParam<std::tuple<int, ShapePolicy, const char*>> {
};

std::vector<HostTensor> inputs_for(const Case& one, std::int64_t b, std::int64_t n, unsigned seed) {
  std::vector<HostTensor> inputs;
  for (std::size_t i = 0; i < one.input_dims.size(); ++i) {
    std::vector<std::int64_t> sizes;
    for (const char* dim : one.input_dims[i]) {
      sizes.push_back(*dim == 'b' ? b : *dim == 'n' ? n : std::atoll(dim));
    }
    inputs.push_back(random_tensor(one.input_dtypes[i], sizes, seed + static_cast<unsigned>(i)));
  }
  return inputs;
}

TEST_P(CompiledModelTest, EqualsTheReferenceOnSizesAroundTheVectorWidth) {
  const auto [index, policy, driver] = GetParam();
  const Case& one = kCases[index];
  const Graph graph = parse_graph(graph_text("", one.text), one.name);
  const auto backend = make_reference_backend();
  SerialFor serial;
  const TempDir cache;
  CompileOptions options;
  options.policy = policy;
  options.driver = driver;
  options.cache_dir = cache.path();
  CompiledModel model(graph, {}, options, *backend, serial);
  for (const std::int64_t n : {1, 2, 7, 8, 15, 16, 17, 31, 33, 1000}) {
    if (policy == ShapePolicy::kStatic && n != 1 && n != 17 && n != 1000) continue;
    for (const std::int64_t b : {1, 3}) {
      const std::vector<HostTensor> inputs =
          inputs_for(one, b, n, static_cast<unsigned>(n * 10 + b));
      auto got = model.run(inputs);
      ASSERT_TRUE(got.ok()) << got.refusal().reason;
      std::string why;
      for (const Fallback& fallback : model.fallbacks()) why += fallback.reason + '\n';
      ASSERT_FALSE(got.value().eager) << why;
      const auto want = interpret_reference(graph, {}, inputs);
      ASSERT_TRUE(want.ok()) << want.refusal().reason;
      EXPECT_LE(worst_ulp(got.value().outputs[0], want.value()[0]), one.ulps)
          << one.name << " b=" << b << " n=" << n;
      EXPECT_EQ(model.kernels_per_request(inputs), one.kernels);
    }
  }
  EXPECT_EQ(model.counters().extern_calls, 0);
  if (policy == ShapePolicy::kDynamic) {
    EXPECT_EQ(model.counters().programs, 1);
  }
}

std::string case_name(
    const testing::TestParamInfo<std::tuple<int, ShapePolicy, const char*>>& info) {
  return std::string(kCases[std::get<0>(info.param)].name) +
         (std::get<1>(info.param) == ShapePolicy::kStatic ? "_static_" : "_dynamic_") +
         std::get<2>(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, CompiledModelTest,
                         testing::Combine(testing::Range(0, static_cast<int>(std::size(kCases))),
                                          testing::Values(ShapePolicy::kStatic,
                                                          ShapePolicy::kDynamic),
                                          testing::Values("auto", "system")),
                         case_name);

class PolicyTest : public testing::Test {
 protected:
  std::unique_ptr<CompiledModel> make(ShapePolicy policy, int limit = 256,
                                      const std::string& driver = "auto") {
    CompileOptions options;
    options.policy = policy;
    options.cache_dir = cache_.path();
    options.recompile_limit = limit;
    options.driver = driver;
    return std::make_unique<CompiledModel>(graph_, WeightMap{}, options, *backend_, serial_);
  }
  std::vector<HostTensor> shape(std::int64_t b, std::int64_t n) {
    return inputs_for(kCases[1], b, n, 5);
  }

  Graph graph_ = parse_graph(graph_text("", kCases[1].text), "softmax");
  std::unique_ptr<ExternBackend> backend_ = make_reference_backend();
  SerialFor serial_;
  TempDir cache_;
};

TEST_F(PolicyTest, StaticRecompilesForANewShapeAndNamesTheGuard) {
  const auto model = make(ShapePolicy::kStatic);
  auto first = model->run(shape(2, 13));
  ASSERT_EQ(first.value().compiles.size(), 1U);
  EXPECT_EQ(first.value().compiles[0].trigger, CompileTrigger::kFirst);
  EXPECT_TRUE(model->run(shape(2, 13)).value().compiles.empty());
  auto second = model->run(shape(2, 17));
  ASSERT_EQ(second.value().compiles.size(), 1U);
  const CompileEvent& event = second.value().compiles[0];
  EXPECT_EQ(event.trigger, CompileTrigger::kRecompile);
  EXPECT_EQ(event.failed_guard, "x.size[1] == 13, got 17");
  EXPECT_NE(event.origin.find("policy static"), std::string::npos) << event.origin;
  EXPECT_EQ(event.shape, "b=2 n=17");
  EXPECT_TRUE(model->run(shape(2, 13)).value().compiles.empty()) << "the old program is kept";
  EXPECT_EQ(model->counters().guard_failures, 1);
}

TEST_F(PolicyTest, StagesOfACompileSumToItsDuration) {
  auto run = make(ShapePolicy::kStatic)->run(shape(2, 13));
  const CompileEvent& event = run.value().compiles.at(0);
  Nanos sum = 0;
  for (const Stage& stage : event.stages) {
    EXPECT_GE(stage.duration, 0) << stage.name;
    sum += stage.duration;
  }
  EXPECT_EQ(sum, event.duration);
  EXPECT_EQ(event.stages.back().name, "unattributed");
  EXPECT_EQ(event.compiled, 1);
  ASSERT_EQ(event.misses.size(), 1U);
}

TEST_F(PolicyTest, DynamicCompilesOnce) {
  const auto model = make(ShapePolicy::kDynamic);
  std::size_t compiles = 0;
  for (const std::int64_t n : {13, 17, 1, 64, 13}) {
    compiles += model->run(shape(2, n)).value().compiles.size();
  }
  EXPECT_EQ(compiles, 1U);
  EXPECT_EQ(model->counters().programs, 1);
}

TEST_F(PolicyTest, ASecondInstanceWithTheSameDirectoryCompilesNothing) {
  for (const ShapePolicy policy : {ShapePolicy::kStatic, ShapePolicy::kDynamic}) {
    ASSERT_TRUE(make(policy)->run(shape(2, 13)).ok());
    const auto second = make(policy);
    auto run = second->run(shape(2, 13));
    ASSERT_EQ(run.value().compiles.size(), 1U);
    EXPECT_EQ(run.value().compiles[0].compiled, 0);
    EXPECT_EQ(run.value().compiles[0].from_disk, 1);
    EXPECT_EQ(second->counters().kernels_compiled, 0);
  }
}

TEST_F(PolicyTest, ShapesPastTheRecompileLimitRunEagerlyAndAreCounted) {
  const auto model = make(ShapePolicy::kStatic, 2);
  for (const std::int64_t n : {3, 4, 5, 6}) ASSERT_TRUE(model->run(shape(1, n)).ok());
  EXPECT_EQ(model->counters().programs, 2);
  EXPECT_EQ(model->counters().eager_requests, 2);
  bool named = false;
  for (const Fallback& fallback : model->fallbacks()) {
    named |=
        fallback.whole_request && fallback.reason.find("recompile limit of 2") != std::string::npos;
  }
  EXPECT_TRUE(named);
}

TEST_F(PolicyTest, WithoutACompilerRequestsRunEagerlyWithTheReason) {
  const auto model = make(ShapePolicy::kStatic, 256, "no-such-driver");
  const std::vector<HostTensor> inputs = shape(2, 13);
  auto run = model->run(inputs);
  ASSERT_TRUE(run.ok());
  EXPECT_TRUE(run.value().eager);
  EXPECT_LE(worst_ulp(run.value().outputs[0], interpret_reference(graph_, {}, inputs).value()[0]),
            0);
  ASSERT_FALSE(model->fallbacks().empty());
  EXPECT_NE(model->fallbacks()[0].reason.find("no-such-driver"), std::string::npos);
}

TEST_F(PolicyTest, ASizeOutsideTheRangeRunsEagerlyAndSaysSo) {
  const auto model = make(ShapePolicy::kDynamic);
  auto run = model->run(shape(5000, 2));
  ASSERT_TRUE(run.ok()) << run.refusal().reason;
  EXPECT_TRUE(run.value().eager);
  EXPECT_NE(model->fallbacks().at(0).reason.find("5000"), std::string::npos)
      << model->fallbacks().at(0).reason;
}

TEST_F(PolicyTest, AWrongRankOrDtypeIsRefusedWithTheInputNamed) {
  const auto model = make(ShapePolicy::kDynamic);
  const std::vector<HostTensor> flat = {random_tensor(DType::kF32, {6}, 1)};
  auto rank = model->run(flat);
  ASSERT_FALSE(rank.ok());
  EXPECT_NE(rank.refusal().reason.find("input x must be f32[b, n]"), std::string::npos)
      << rank.refusal().reason;
  const std::vector<HostTensor> wide = {random_tensor(DType::kF64, {2, 3}, 1)};
  EXPECT_FALSE(model->run(wide).ok());
  EXPECT_FALSE(model->run({}).ok());
}

TEST_F(PolicyTest, ManyThreadsThatAskForOneShapeCompileItOnce) {
  const auto model = make(ShapePolicy::kStatic);
  constexpr int kThreads = 64;
  std::barrier start(kThreads);
  std::atomic<int> compiles = 0;
  std::atomic<int> answered = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const std::vector<HostTensor> inputs = shape(2, 29);
      start.arrive_and_wait();
      auto run = model->run(inputs);
      answered += run.ok();
      if (run.ok()) compiles += static_cast<int>(run.value().compiles.size());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, kThreads);
  EXPECT_EQ(compiles, 1);
}

// B088: two threads, each its own sizes.
TEST_F(PolicyTest, ThreadsWithDifferentShapesGetTheirOwnAnswers) {
  const auto model = make(ShapePolicy::kStatic);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 1; n <= 5; ++n) {
        const std::vector<HostTensor> inputs = shape(1, 2 * n + t);
        auto run = model->run(inputs);
        const auto want = interpret_reference(graph_, {}, inputs);
        right += run.ok() && worst_ulp(run.value().outputs[0], want.value()[0]) <= 8;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 10);
  EXPECT_EQ(model->counters().programs, 10);
}

// B062: sizes of an input that nothing reads are no guard.
TEST(Guards, AnUnreadInputDoesNotRecompile) {
  const Graph graph =
      parse_graph(graph_text("",
                             "  %x = input \"x\" : f32[b]\n  %y = input \"y\" : f32[n]\n"
                             "  %z = aten.add.Scalar(self=%x, other=2) : f32[b]\n  return %z\n"),
                  "unused");
  const auto backend = make_reference_backend();
  SerialFor serial;
  CompiledModel model(graph, {}, {}, *backend, serial);
  for (const std::int64_t n : {0, 1, 2, 7}) {
    const std::vector<HostTensor> inputs = {random_tensor(DType::kF32, {3}, 1),
                                            random_tensor(DType::kF32, {n}, 1)};
    ASSERT_TRUE(model.run(inputs).ok());
  }
  EXPECT_EQ(model.counters().programs, 1);
}

TEST(Gather, ARowOutsideTheTableIsAnErrorAsInEager) {
  const Graph graph = parse_graph(
      "graph \"g\" {\n  sym b in [1, 64] hint 3\n  %i = input \"i\" : i64[b]\n"
      "  %w = input \"w\" : f32[5, 4]\n"
      "  %e = aten.embedding.default(weight=%w, indices=%i) : f32[b, 4]\n  return %e\n}\n",
      "gather");
  const auto backend = make_reference_backend();
  SerialFor serial;
  CompiledModel model(graph, {}, {}, *backend, serial);
  std::vector<HostTensor> inputs = {random_tensor(DType::kI64, {3}, 1),
                                    random_tensor(DType::kF32, {5, 4}, 2)};
  for (const std::int64_t row : {0, 4}) {
    inputs[0].as<std::int64_t>()[0] = inputs[0].as<std::int64_t>()[2] = 1;
    inputs[0].as<std::int64_t>()[1] = row;
    auto run = model.run(inputs);
    ASSERT_TRUE(run.ok());
    EXPECT_FALSE(run.value().eager);
    EXPECT_EQ(run.value().outputs[0].as<float>()[4], inputs[1].as<float>()[row * 4]);
  }
  for (const std::int64_t row : {-1, 5}) {
    inputs[0].as<std::int64_t>()[1] = row;
    EXPECT_FALSE(model.run(inputs).ok()) << row;
  }
}

// An output that a later step reads too is still there at the end.
TEST(Outputs, OneThatIsReadAgainInsideIsReturned) {
  const Graph graph =
      parse_graph(graph_text("",
                             "  %x = input \"x\" : f32[b, n]\n"
                             "  %s = aten.softmax.int(self=%x, dim=-1) : f32[b, n]\n"
                             "  %c = aten.cumsum.default(self=%s, dim=1) : f32[b, n]\n"
                             "  %t = aten.exp.default(self=%c) : f32[b, n]\n  return %s, %c, %t\n"),
                  "outputs");
  const auto backend = make_reference_backend();
  SerialFor serial;
  CompiledModel model(graph, {}, {}, *backend, serial);
  const std::vector<HostTensor> inputs = {random_tensor(DType::kF32, {2, 9}, 3)};
  const auto want = interpret_reference(graph, {}, inputs);
  auto got = model.run(inputs);
  ASSERT_TRUE(got.ok()) << got.refusal().reason;
  EXPECT_FALSE(got.value().eager);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LE(worst_ulp(got.value().outputs[i], want.value()[i]), 8) << i;
  }
}

// Strided inputs are copied once, and the answer is the dense one's.
TEST(Inputs, AStridedInputGivesTheDenseAnswer) {
  const Graph graph = parse_graph(graph_text("", kCases[1].text), "softmax");
  const auto backend = make_reference_backend();
  SerialFor serial;
  CompiledModel model(graph, {}, {}, *backend, serial);
  HostTensor base = random_tensor(DType::kF32, {6, 4}, 3);
  HostTensor view = base;
  view.sizes = {4, 6};
  view.strides = {1, 4};
  HostTensor dense = HostTensor::empty(DType::kF32, {4, 6});
  for (int i = 0; i < 24; ++i) dense.as<float>()[i] = base.as<float>()[i % 6 * 4 + i / 6];
  const std::vector<HostTensor> strided = {view};
  const std::vector<HostTensor> plain = {dense};
  auto got = model.run(strided);
  auto want = model.run(plain);
  ASSERT_TRUE(got.ok() && want.ok());
  EXPECT_EQ(std::memcmp(got.value().outputs[0].data, want.value().outputs[0].data, 24 * 4), 0);
}

TEST(Explain, EveryStagePrintsAndAnUnknownOneNamesTheNearest) {
  const Graph graph = parse_graph(graph_text("", kCases[3].text), "norm");
  const auto backend = make_reference_backend();
  const std::vector<HostTensor> inputs = inputs_for(kCases[3], 2, 3, 1);
  CompileOptions options;
  for (const std::string& stage : explain_stages()) {
    EXPECT_FALSE(explain_stage(graph, {}, options, *backend, inputs, stage).empty()) << stage;
  }
  try {
    explain_stage(graph, {}, options, *backend, inputs, "shedule");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("schedule"), std::string::npos) << error.what();
  }
}

TEST(Explain, TheSameGraphGivesTheSameSource) {
  const Graph graph = parse_graph(graph_text("", kCases[3].text), "norm");
  const auto backend = make_reference_backend();
  const std::vector<HostTensor> inputs = inputs_for(kCases[3], 2, 3, 1);
  const std::string once = explain_stage(graph, {}, {}, *backend, inputs, "source");
  EXPECT_EQ(once, explain_stage(Graph(graph), {}, {}, *backend, inputs, "source"));
}

}  // namespace
}  // namespace breakeven
