#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "compiler/ir/reference.h"
#include "compiler/passes/passes.h"
#include "compiler/support/error.h"
#include "tests/fuzz/random_graph.h"

namespace breakeven {
namespace {

constexpr std::uint64_t kGraphs = 4000;

/// Empty when the outputs agree up to the rounding that another order of fp64 operations adds.
std::string difference(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  if (a.size() != b.size()) return "another number of outputs";
  for (std::size_t t = 0; t < a.size(); ++t) {
    if (a[t].sizes != b[t].sizes || a[t].dtype != b[t].dtype) return "types differ";
    for (std::int64_t i = 0; i < a[t].element_count(); ++i) {
      const double x = element_as_double(a[t], i);
      const double y = element_as_double(b[t], i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (!(std::fabs(x - y) <= 1e-7 * (1 + std::fabs(x)))) {
        return "output " + std::to_string(t) + "[" + std::to_string(i) + "]: " + std::to_string(x) +
               " against " + std::to_string(y);
      }
    }
  }
  return "";
}

TEST(GraphFuzz, TextReadsBack) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Graph graph = random_graph(seed);
    const std::vector<std::string> faults = verify(graph);
    const std::string text = print_graph(graph);
    ASSERT_TRUE(faults.empty()) << seed << ": " << faults.front() << "\n" << text;
    ASSERT_EQ(print_graph(parse_graph(text, "fuzz.ir")), text) << seed;
  }
}

TEST(GraphFuzz, EveryPassKeepsTheMeaning) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    Graph graph = random_graph(seed);
    const auto n = static_cast<std::int64_t>(seed % 6) + 1;
    const std::vector<HostTensor> inputs = random_inputs(graph, seed, n);
    const auto expected = interpret_reference(graph, {}, inputs, ReferenceOutput::kF64);
    if (!expected.ok()) continue;  // A maximum over a slice that is empty for this n.
    ++compared;
    const std::string before = print_graph(graph);
    std::vector<StageGraph> stages;
    run_pipeline(graph, &stages);
    for (const StageGraph& stage : stages) {
      const auto actual = interpret_reference(stage.graph, {}, inputs, ReferenceOutput::kF64);
      // Rewriting a softmax shows the maximum over a slice that is empty for this n.
      if (!actual.ok() && actual.refusal().reason.ends_with("of no element")) break;
      ASSERT_TRUE(actual.ok()) << seed << " after " << stage.name << ": " << actual.refusal().reason
                               << "\n"
                               << before << "\n"
                               << print_graph(stage.graph);
      ASSERT_EQ(difference(expected.value(), actual.value()), "")
          << seed << " after " << stage.name << "\n"
          << before << "\n"
          << print_graph(stage.graph);
    }
    const std::string text = print_graph(stages.back().graph);
    ASSERT_EQ(print_graph(parse_graph(text, "fuzz.ir")), text) << seed;
    // Bounds of slices of slices may nest one min and max deeper each time; all else is at rest.
    if (text.find("max(") != std::string::npos) continue;
    ASSERT_EQ(print_graph(run_pipeline(stages.back().graph)), text) << seed << ": not idempotent";
  }
  EXPECT_GT(compared, static_cast<int>(kGraphs) * 9 / 10);
}

TEST(GraphFuzz, SpecialisedGraphsMeanTheSame) {
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Graph graph = random_graph(seed);
    const std::int64_t values[] = {static_cast<std::int64_t>(seed % 6) + 1};
    const std::vector<HostTensor> inputs = random_inputs(graph, seed, values[0]);
    const auto expected = interpret_reference(graph, {}, inputs, ReferenceOutput::kF64);
    if (!expected.ok()) continue;
    const Graph fixed = run_pipeline(specialize(graph, values, {true}));
    ASSERT_TRUE(fixed.syms.symbols().empty());
    ASSERT_EQ(print_graph(specialize(graph, values, {false})), print_graph(graph)) << seed;
    const auto actual = interpret_reference(fixed, {}, inputs, ReferenceOutput::kF64);
    ASSERT_TRUE(actual.ok()) << seed << ": " << actual.refusal().reason << "\n"
                             << print_graph(graph) << print_graph(fixed);
    ASSERT_EQ(difference(expected.value(), actual.value()), "") << seed << "\n"
                                                                << print_graph(fixed);
  }
}

/// Text with bytes changed, doubled or dropped either parses or gives faults with places.
TEST(ParserFuzz, DamagedTextNeverBreaksTheParser) {
  int rejected = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    std::string text = print_graph(random_graph(seed % 200));
    std::uint64_t state = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto next = [&state](std::size_t bound) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<std::size_t>(state >> 33) % bound;
    };
    for (std::size_t edits = 1 + next(4); edits > 0 && !text.empty(); --edits) {
      static constexpr char kBytes[] = "%()[]{}=:,\"\\\n #-0.e\xff\x00x*/";
      const std::size_t at = next(text.size());
      switch (next(4)) {
        case 0:
          text[at] = kBytes[next(sizeof(kBytes) - 1)];
          break;
        case 1:
          text.erase(at, 1 + next(20));
          break;
        case 2:
          text.insert(at, text.substr(next(text.size()), next(40)));
          break;
        default:
          text.insert(at, 1, kBytes[next(sizeof(kBytes) - 1)]);
          break;
      }
    }
    try {
      const Graph graph = parse_graph(text, "fuzz.ir");
      const std::string once = print_graph(graph);
      ASSERT_EQ(print_graph(parse_graph(once, "fuzz.ir")), once) << seed;
    } catch (const UserError& error) {
      ++rejected;
      ASSERT_FALSE(error.diagnostics().empty());
      for (const Diagnostic& fault : error.diagnostics()) {
        ASSERT_GE(fault.line, 1) << seed;
        ASSERT_FALSE(fault.message.empty() || fault.fix.empty()) << seed;
      }
    }
  }
  EXPECT_GT(rejected, 2500);
}

TEST(ParserFuzz, RandomBytesGiveFaults) {
  std::uint64_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string text = round % 2 == 0 ? "graph \"g\" {\n" : "";
    for (int i = 0; i < 200; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      text += static_cast<char>(round % 4 < 2 ? 32 + (state >> 33) % 95 : state >> 33);
    }
    EXPECT_THROW(parse_graph(text, "fuzz.ir"), UserError) << round;
  }
}

}  // namespace
}  // namespace breakeven
