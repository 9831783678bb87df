#include <cstdio>
#include <string>

#include "compiler/support/error.h"
#include "reports/render/render.h"
#include "tests/support/synthetic_results.h"

namespace {

/// Names that must come out as text in every format.
const char* const kHostile =
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x1b[31m\xe2\x80\xae\xff{{name}}";

}  // namespace

/// synthetic_report DIRECTORY [enable|quick|blocked|eager|hostile|bare]
int main(int argc, char** argv) {
  using namespace breakeven;
  if (argc < 2) return 2;
  const std::string kind = argc > 2 ? argv[2] : "enable";
  testing::SyntheticOptions options;
  options.arms = testing::default_arms();
  options.rate_per_s = 30;
  options.traffic_seconds = 16;
  if (kind == "quick") {
    options.quick = true;
    options.processes = 2;
  } else if (kind == "blocked") {
    options.arms[1].accuracy_ratio = 3;
  } else if (kind == "eager") {
    options.arms[1].mean_service_ms = options.arms[2].mean_service_ms = 14;
  } else if (kind == "hostile") {
    options.scenario_name = kHostile;
    options.arms[1].name = kHostile + std::string(10000, 'x');
  }
  try {
    Results results = testing::make_synthetic(options, argv[1]);
    if (kind == "bare") results.trials.clear();
    if (kind == "hostile") {
      results.environment[kHostile] = kHostile;
      results.trials[0].compiles.push_back({.trigger = "first", .shape = kHostile});
    }
    write_results(results, std::filesystem::path(argv[1]) / "results.json");
    const Decision decision = make_report(argv[1]);
    std::fputs(render_terminal(results, decision, false).c_str(), stderr);
  } catch (const UserError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
