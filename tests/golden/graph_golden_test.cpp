// Every tests/golden/graphs/NAME.ir runs through the pipeline; the graph after each pass must equal
// NAME.golden. BREAKEVEN_UPDATE_GOLDEN=1 writes the files anew: review the difference like code.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/passes/passes.h"
#include "compiler/support/files.h"

namespace breakeven {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(BREAKEVEN_SOURCE_DIR) / "tests/golden/graphs";

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".ir") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class GraphGolden : public testing::TestWithParam<std::string> {};

TEST_P(GraphGolden, EachPassWritesTheExpectedGraph) {
  const fs::path source = kFolder / (GetParam() + ".ir");
  const Graph graph = parse_graph(read_file(source), GetParam() + ".ir");
  std::vector<StageGraph> stages;
  const Graph passed = run_pipeline(graph, &stages);
  std::string actual;
  for (const StageGraph& stage : stages) {
    actual += "# after " + stage.name + "\n" + print_graph(stage.graph);
  }
  const fs::path golden = kFolder / (GetParam() + ".golden");
  if (std::getenv("BREAKEVEN_UPDATE_GOLDEN") != nullptr) write_file_atomic(golden, actual);
  EXPECT_EQ(actual, read_file(golden));
}

TEST_P(GraphGolden, EveryStageReadsBackAndEveryPassIsIdempotent) {
  const std::string text = read_file(kFolder / (GetParam() + ".ir"));
  const Graph graph = parse_graph(text, GetParam() + ".ir");
  std::vector<StageGraph> stages;
  run_pipeline(graph, &stages);
  ASSERT_EQ(stages.size(), pipeline().size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::string once = print_graph(stages[i].graph);
    const Graph again = parse_graph(once, "stage.ir");
    EXPECT_EQ(print_graph(again), once);
    // A decomposed graph may hold values that only eliminate_dead drops, and drops alone may
    // differ.
    EXPECT_EQ(print_graph(eliminate_dead(pipeline()[i].run(again))),
              print_graph(eliminate_dead(again)))
        << stages[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, GraphGolden, testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace breakeven
