#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "compiler/ir/reference.h"
#include "compiler/runtime/compiled_model.h"
#include "compiler/support/files.h"
#include "tests/fuzz/random_graph.h"

namespace breakeven {
namespace {

/// Empty when the outputs agree up to f32's rounding at the scale of each output. `want` is in
/// fp64.
std::string difference(const Graph& graph, const std::vector<HostTensor>& want,
                       const std::vector<HostTensor>& got) {
  for (std::size_t t = 0; t < want.size(); ++t) {
    if (want[t].sizes != got[t].sizes || got[t].dtype != graph.type(graph.outputs()[t]).dtype) {
      return "types differ";
    }
    double scale = 1e-6;
    for (std::int64_t i = 0; i < want[t].element_count(); ++i) {
      const double value = std::fabs(element_as_double(want[t], i));
      if (std::isfinite(value)) scale = std::max(scale, value);
    }
    for (std::int64_t i = 0; i < want[t].element_count(); ++i) {
      const double x = element_as_double(want[t], i);
      const double y = element_as_double(got[t], i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (!(std::fabs(x - y) <= 1e-3 * scale)) {
        return "output " + std::to_string(t) + "[" + std::to_string(i) + "]: " + std::to_string(y) +
               ", want " + std::to_string(x);
      }
    }
  }
  return "";
}

class CompiledFuzz : public testing::TestWithParam<ShapePolicy> {};

/// Random graphs through fusion, schedule, generated code and runtime against plain loops in fp64.
TEST_P(CompiledFuzz, KernelsEqualTheReference) {
  const auto backend = make_reference_backend();
  SerialFor serial;
  const TempDir cache;
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 260; ++seed) {
    const Graph graph = random_graph(seed);
    CompileOptions options;
    options.policy = GetParam();
    options.cache_dir = cache.path();
    CompiledModel model(graph, {}, options, *backend, serial);
    for (const std::int64_t n : {1, 2, 5}) {
      if (GetParam() == ShapePolicy::kStatic && n != 5) continue;
      const std::vector<HostTensor> inputs = random_inputs(graph, seed, n);
      const auto want = interpret_reference(graph, {}, inputs, ReferenceOutput::kF64);
      const auto got = model.run(inputs);
      if (!want.ok()) continue;  // Sizes at which the graph itself is unsound.
      ASSERT_TRUE(got.ok()) << seed << " n=" << n << ": " << got.refusal().reason;
      std::string reasons;
      for (const Fallback& fallback : model.fallbacks()) reasons += fallback.reason + '\n';
      ASSERT_FALSE(got.value().eager) << seed << " n=" << n << ": " << reasons;
      ASSERT_EQ(difference(graph, want.value(), got.value().outputs), "")
          << seed << " n=" << n << "\n"
          << print_graph(graph) << explain_stage(graph, {}, options, *backend, inputs, "fuse");
      ++compared;
    }
  }
  EXPECT_GT(compared, GetParam() == ShapePolicy::kStatic ? 230 : 690);
}

INSTANTIATE_TEST_SUITE_P(Policies, CompiledFuzz,
                         testing::Values(ShapePolicy::kStatic, ShapePolicy::kDynamic),
                         [](const auto& info) {
                           return info.param == ShapePolicy::kStatic ? "static_shapes"
                                                                     : "dynamic_shapes";
                         });

}  // namespace
}  // namespace breakeven
