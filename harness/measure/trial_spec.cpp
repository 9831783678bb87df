#include <array>
#include <nlohmann/json.hpp>

#include "compiler/support/check.h"
#include "compiler/support/error.h"
#include "harness/measure/trial.h"

namespace breakeven {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"priming", "accuracy", "cold", "warm_disk",
                                                    "warmed"};

/// Calls visit(name, member) for every field but `kind`.
template <typename Spec, typename Visit>
void fields(Spec& spec, Visit visit) {
  visit("scenario_hash", spec.scenario_hash);
  visit("arm", spec.arm);
  visit("process", spec.process);
  visit("steady_seed", spec.steady_seed);
  visit("traffic_seed", spec.traffic_seed);
  visit("traffic_offset_s", spec.traffic_offset_s);
  visit("accuracy_shapes", spec.accuracy_shapes);
  visit("processes", spec.measure.processes);
  visit("start_seconds", spec.measure.start_seconds);
  visit("start_cap_requests", spec.measure.start_cap_requests);
  visit("steady_requests", spec.measure.steady_requests);
  visit("steady_cap_seconds", spec.measure.steady_cap_seconds);
  visit("traffic_seconds", spec.measure.traffic_seconds);
  visit("warmup_coverage", spec.measure.warmup_coverage);
  visit("warmup_shapes", spec.measure.warmup_shapes);
  visit("accuracy_seconds", spec.measure.accuracy_seconds);
  visit("threads", spec.measure.threads);
  visit("trial_timeout_s", spec.measure.trial_timeout_s);
  visit("seed", spec.measure.seed);
}

template <typename Spec, typename Visit>
void paths(Spec& spec, Visit visit) {
  visit("scenario_file", spec.scenario_file);
  visit("cache_dir", spec.cache_dir);
  visit("raw_directory", spec.raw_directory);
}

}  // namespace

std::string_view name_of(TrialKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::string to_text(const TrialSpec& spec) {
  nlohmann::ordered_json json = {{"kind", name_of(spec.kind)}};
  fields(spec, [&](const char* name, const auto& value) { json[name] = value; });
  paths(spec, [&](const char* name, const auto& path) { json[name] = path.string(); });
  // A path may hold bytes that are no UTF-8; JSON cannot carry those.
  try {
    return json.dump(2) + '\n';
  } catch (const nlohmann::json::exception&) {
    throw UserError({.file = spec.scenario_file.string(),
                     .message = "a path of this run is not valid UTF-8",
                     .fix = "Rename the directory"});
  }
}

TrialSpec parse_trial_spec(std::string_view text, const std::string& name) {
  TrialSpec spec;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    const auto kind = json.at("kind").get<std::string>();
    std::size_t index = 0;
    while (index < kKinds.size() && kKinds[index] != kind) ++index;
    if (index < kKinds.size()) {
      spec.kind = static_cast<TrialKind>(index);
      fields(spec, [&](const char* field, auto& value) { json.at(field).get_to(value); });
      paths(spec, [&](const char* field, auto& path) { path = json.at(field).get<std::string>(); });
      return spec;
    }
  } catch (const nlohmann::json::exception&) {
    // Reported below: the file is not for people, so where it is broken helps nobody.
  }
  throw UserError({.file = name,
                   .message = "this is no trial of a run",
                   .fix = "`breakeven run` writes these files for its own use"});
}

}  // namespace breakeven
