// Every tests/golden/sources/NAME.ir is lowered to kernels for AVX2 and for AVX-512; fusion plan,
// loop nests and text must equal NAME.golden. BREAKEVEN_UPDATE_GOLDEN=1 writes the files anew:
// review the difference like code.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/codegen/emit.h"
#include "compiler/fuse/fusion.h"
#include "compiler/passes/passes.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/files.h"

namespace breakeven {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(BREAKEVEN_SOURCE_DIR) / "tests/golden/sources";

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".ir") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class SourceGolden : public testing::TestWithParam<std::string> {};

TEST_P(SourceGolden, KernelsHaveTheExpectedText) {
  const Graph read = parse_graph(read_file(kFolder / (GetParam() + ".ir")), GetParam() + ".ir");
  std::string actual;
  for (const VectorUnit& unit :
       {VectorUnit{.floats = 8, .registers = 16}, VectorUnit{.floats = 16, .registers = 32}}) {
    Graph graph = run_pipeline(read);
    const FusionPlan plan = fuse(graph);
    actual +=
        "// vectors of " + std::to_string(unit.floats) + " floats\n" + print_plan(graph, plan);
    for (const Group& group : plan.groups) {
      if (group.kind != GroupKind::kFused) continue;
      const Schedule schedule = schedule_group(graph, group, unit);
      actual +=
          '\n' + print_schedule(graph, schedule) + '\n' + emit_kernel(graph, schedule).unit.text;
      // The tiles of wider vectors are more of the same.
      if (schedule.product.has_value() && unit.floats == 8)
        actual += '\n' + emit_multiply(*schedule.product).text;
    }
  }
  const fs::path golden = kFolder / (GetParam() + ".golden");
  if (std::getenv("BREAKEVEN_UPDATE_GOLDEN") != nullptr) write_file_atomic(golden, actual);
  EXPECT_EQ(actual, read_file(golden));
}

INSTANTIATE_TEST_SUITE_P(Sources, SourceGolden, testing::ValuesIn(golden_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace breakeven
