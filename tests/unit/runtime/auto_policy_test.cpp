#include <gtest/gtest.h>

#include "compiler/runtime/compiled_model.h"

namespace breakeven {
namespace {

constexpr const char* kGraph = R"(graph "auto" {
  sym b in [1, 8] hint 2
  sym n in [1, 64] hint 13
  %x = input "x" : f32[b, n]
  %a = aten.softmax.int(self=%x, dim=-1) : f32[b, n]
  return %a
}
)";

HostTensor request(std::int64_t b, std::int64_t n) {
  HostTensor x = HostTensor::empty(DType::kF32, {b, n});
  for (std::int64_t i = 0; i < b * n; ++i) x.as<float>()[i] = 0.1F * static_cast<float>(i % 7);
  return x;
}

// Each of the two symbols becomes symbolic when it has varied, and not before.
TEST(AutoPolicy, FixesWhatHasNotVaried) {
  const Graph graph = parse_graph(kGraph, "auto.ir");
  const std::unique_ptr<ExternBackend> backend = make_reference_backend();
  SerialFor serial;
  CompileOptions options;
  options.policy = ShapePolicy::kAuto;
  CompiledModel model(graph, {}, options, *backend, serial);
  std::vector<std::string> log;
  constexpr std::pair<int, int> kShapes[] = {{2, 13}, {2, 13}, {2, 17}, {2, 64},
                                             {3, 9},  {1, 1},  {2, 13}};
  for (const auto& [b, n] : kShapes) {
    const std::vector<HostTensor> inputs = {request(b, n)};
    auto run = model.run(inputs);
    ASSERT_TRUE(run.ok());
    EXPECT_FALSE(run.value().eager);
    const HostTensor& answer = run.value().outputs[0];
    const auto exact = interpret_reference(graph, {}, inputs);
    ASSERT_EQ(answer.sizes, exact.value()[0].sizes);
    for (std::int64_t i = 0; i < answer.element_count(); ++i) {
      ASSERT_NEAR(element_as_double(answer, i), element_as_double(exact.value()[0], i), 1e-6)
          << b << 'x' << n;
    }
    for (const CompileEvent& event : run.value().compiles) {
      log.push_back(event.shape + ": " + event.failed_guard + " | " + event.origin);
    }
  }
  EXPECT_EQ(log,
            (std::vector<std::string>{
                "b=2 n=13:  | ", "b=2 n=17: x.size[1] == 13, got 17 | specialize (policy auto): n",
                "b=3 n=9: x.size[0] == 2, got 3 | specialize (policy auto): b"}));
  EXPECT_EQ(model.counters().programs, 3);
}

}  // namespace
}  // namespace breakeven
