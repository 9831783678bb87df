#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <ostream>

#include "compiler/support/files.h"
#include "compiler/support/text.h"
#include "harness/cli/commands.h"
#include "harness/executors/executor.h"
#include "harness/measure/run.h"
#include "harness/measure/workload.h"
#include "harness/traffic/traffic.h"
#include "reports/render/render.h"

namespace breakeven {
namespace {

constexpr const char* kDecide = "decide";

/// The likeliest shape with the sizes asked for put in.
ShapeBinding shape_of(const Scenario& scenario, const std::vector<std::string>& sizes) {
  ShapeBinding shape = shape_distribution(scenario).front().shape;
  for (const std::string& text : sizes) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto dim = std::find_if(scenario.dims.begin(), scenario.dims.end(),
                                  [&](const DimSpec& one) { return one.name == name; });
    std::int64_t size = 0;
    const char* end = text.data() + text.size();
    const bool read = equals != std::string::npos &&
                      std::from_chars(text.data() + equals + 1, end, size).ptr == end;
    if (dim == scenario.dims.end() || !read || size < dim->min || size > dim->max) {
      throw UserError(
          {.message = "--size must be DIM=SIZE with a dim of the scenario and a size in "
                      "its range",
           .value = '"' + text + '"',
           .fix = "Such as --size " +
                  (scenario.dims.empty() ? std::string("length") : scenario.dims[0].name) + "=13"});
    }
    shape[static_cast<std::size_t>(dim - scenario.dims.begin())] = size;
  }
  return shape;
}

std::string fused_arm(const Scenario& scenario, const std::string& asked) {
  if (!asked.empty()) return asked;
  for (const std::string& arm : scenario.arms) {
    if (arm.starts_with("fused:")) return arm;
  }
  return "fused:static";
}

std::string explain_decision(const ExplainArguments& arguments) {
  if (arguments.directory.empty()) {
    throw UserError(
        Diagnostic{.message = "--to decide needs the results of a run",
                   .fix = "Add --dir DIR, the directory that `breakeven run -o DIR` wrote"});
  }
  const std::filesystem::path directory = arguments.directory;
  const Results results = read_results(directory / "results.json");
  return render_terminal(results, decide(results, directory), false);
}

}  // namespace

std::vector<std::string> explain_command_stages() {
  std::vector<std::string> stages = explain_model_stages();
  stages.emplace_back(kDecide);
  return stages;
}

ExitCode explain_command(const ExplainArguments& arguments, Terminal& terminal) {
  const std::vector<std::string> stages = explain_command_stages();
  if (std::find(stages.begin(), stages.end(), arguments.stage) == stages.end()) {
    const std::string nearest = nearest_word(arguments.stage, stages);
    throw UserError(
        Diagnostic{.message = "there is no such stage",
                   .value = '"' + arguments.stage + '"',
                   .fix = (nearest.empty() ? "" : "Did you mean \"" + nearest + "\"? ") +
                          ("The stages are " + join(stages, ", "))});
  }
  // As `run` would serve it: the same threads make the same schedules.
  const Scenario scenario = effective_scenario(load_scenario(arguments.scenario), {});
  std::string text;
  if (arguments.stage == kDecide) {
    text = explain_decision(arguments);
  } else {
    if (scenario.model.file.empty()) {
      throw UserError({.file = arguments.scenario,
                       .message = "the scenario has no model file, so there is nothing to compile",
                       .fix = "Name a .pt2 or .ir file in model.file"});
    }
    const TempDir cache("breakeven-explain");
    const ExecutorContext context{
        .scenario = &scenario, .cache_dir = cache.path(), .threads = scenario.measure.threads};
    const std::vector<HostTensor> inputs =
        make_inputs(scenario, shape_of(scenario, arguments.sizes), scenario.measure.seed);
    text = explain_model(fused_arm(scenario, arguments.arm), context, inputs, arguments.stage);
  }
  if (terminal.json) {
    const nlohmann::ordered_json json = {{"stage", arguments.stage}, {"text", text}};
    text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  terminal.out << text;
  if (text.empty() || text.back() != '\n') terminal.out << '\n';
  return ExitCode::kOk;
}

}  // namespace breakeven
