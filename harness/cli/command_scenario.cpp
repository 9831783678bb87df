#include <nlohmann/json.hpp>
#include <ostream>

#include "compiler/support/files.h"
#include "compiler/support/text.h"
#include "harness/cli/commands.h"
#include "harness/executors/executor.h"
#include "harness/executors/signature.h"
#include "harness/measure/run.h"
#include "harness/scenario/scenario.h"

namespace breakeven {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json fault_json(const Diagnostic& diagnostic) {
  return {{"file", diagnostic.file},     {"line", diagnostic.line},
          {"column", diagnostic.column}, {"message", diagnostic.message},
          {"value", diagnostic.value},   {"fix", diagnostic.fix}};
}

/// The scenario's text, its model named as seen from the scenario's folder.
std::string text_of_model(const std::string& name, const std::string& model,
                          const std::string& file) {
  Scenario scenario;
  scenario.path = model;
  scenario.model.file = model;
  ModelSignature signature = signature_of(read_graph(scenario));
  const auto folder = std::filesystem::absolute(file).parent_path();
  const auto absolute = std::filesystem::absolute(model);
  const auto relative = file.empty() ? absolute : absolute.lexically_proximate(folder);
  signature.file = relative.string();
  return new_scenario_text(name, &signature);
}

}  // namespace

ExitCode validate_command(const std::vector<std::string>& scenarios, Terminal& terminal) {
  ExitCode code = ExitCode::kOk;
  Json all = Json::array();
  for (const std::string& file : scenarios) {
    Json one = {{"file", file}};
    try {
      const Scenario scenario = load_scenario(file);
      const bool has_model =
          scenario.model.file.empty() || std::filesystem::exists(scenario.model.file);
      if (has_model && !scenario.model.file.empty()) {
        check_signature(scenario, read_graph(scenario));
      }
      one["valid"] = true;
      one["name"] = scenario.name;
      one["hash"] = scenario.hash;
      one["model_present"] = has_model;
      one["planned_seconds"] = planned_seconds(scenario);
      one["effective"] = Json::parse(scenario.canonical_json);
      if (!terminal.json) {
        terminal.out << file << ": ok, " << scenario.arms.size() << " arms, a full run takes about "
                     << format_duration_ns(planned_seconds(scenario) * 1e9) << '\n';
        if (!has_model) {
          terminal.err << "breakeven: the model file does not exist yet: " << scenario.model.file
                       << '\n';
        }
      }
    } catch (const UserError& error) {
      code = error.code();
      one["valid"] = false;
      one["faults"] = Json::array();
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        one["faults"].push_back(fault_json(diagnostic));
      }
      for (const std::string& line : split(error.what(), '\n')) {
        terminal.err << "breakeven: " << line << '\n';
      }
    }
    all.push_back(std::move(one));
  }
  if (terminal.json) terminal.out << dumped(all) << '\n';
  return code;
}

ExitCode new_command(const std::string& name, const std::string& model, const std::string& file,
                     bool schema, Terminal& terminal) {
  if (!schema && name.empty()) {
    throw UserError(Diagnostic{.message = "the new scenario needs a name",
                               .fix = "Write `breakeven new NAME`"});
  }
  const std::string text = schema          ? scenario_schema()
                           : model.empty() ? new_scenario_text(name)
                                           : text_of_model(name, model, file);
  if (file.empty()) {
    terminal.out << text;
    return ExitCode::kOk;
  }
  if (std::filesystem::exists(file)) {
    throw UserError({.file = file, .message = "the file exists", .fix = "Choose another name"});
  }
  write_file_atomic(file, text);
  if (terminal.json) {
    terminal.out << dumped({{"file", file}}) << '\n';
  } else if (!terminal.quiet) {
    terminal.err << "wrote " << file << "; check it with `breakeven validate`\n";
  }
  return ExitCode::kOk;
}

}  // namespace breakeven
