#include "harness/measure/begin_results.h"

#include <algorithm>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/hash.h"
#include "compiler/support/text.h"
#include "harness/measure/environment.h"
#include "harness/traffic/traffic.h"

namespace breakeven {
namespace {

/// The factory's own module when it lies beside the scenario, else its name.
std::string factory_hash(const Scenario& scenario) {
  const std::string& factory = scenario.model.factory;
  if (factory.empty()) return "none";
  std::string path = factory.substr(0, factory.find(':'));
  std::replace(path.begin(), path.end(), '.', '/');
  const std::filesystem::path module = scenario.path.parent_path() / (path + ".py");
  const bool here = std::filesystem::exists(module);
  return hash_bytes(factory + '\n' + (here ? read_file(module) : std::string())).to_hex();
}

}  // namespace

std::string model_hash(const Scenario& scenario) {
  if (scenario.model.file.empty()) return factory_hash(scenario);
  if (!std::filesystem::exists(scenario.model.file)) {
    const std::string make = scenario.model.export_args.empty()
                                 ? "Export the model with scripts/export_model.py"
                                 : "Make it with: scripts/export_model.py " +
                                       join(scenario.model.export_args, " ") + " -o " +
                                       scenario.model.file;
    throw UserError(
        {.file = scenario.model.file, .message = "the model file does not exist", .fix = make});
  }
  const std::string hash = hash_bytes(read_file(scenario.model.file)).to_hex();
  return scenario.model.factory.empty() ? hash : hash + ' ' + factory_hash(scenario);
}

Results begin_results(const Scenario& scenario) {
  Results results;
  results.scenario_name = scenario.name;
  results.scenario_question = scenario.question;
  results.scenario_hash = scenario.hash;
  results.binary_hash = binary_hash();
  results.scenario_json = scenario.canonical_json;
  results.arms = scenario.arms;
  results.rate_per_s = mean_rate_per_s(scenario);
  results.rate_origin = scenario.traffic.origin;
  results.restarts_per_day = scenario.life.restarts_per_day;
  results.restarts_origin = scenario.life.origin;
  results.cache_survives_restart = scenario.life.cache_survives_restart;
  results.slo_p99_ms = scenario.slo_p99_ms;
  results.slo_source = scenario.slo_source;
  results.usd_per_hour = scenario.price.usd_per_hour;
  results.price_device = scenario.price.device;
  results.price_date = scenario.price.date;
  results.price_source = scenario.price.source;
  results.price_origin = scenario.price.origin;
  results.engineer_days = scenario.engineer_days;
  results.usd_per_engineer_day = scenario.usd_per_engineer_day;
  results.shape_order = scenario.shape_order;
  results.policy_json = scenario.policy_json;
  for (const WeightedShape& shape : shape_distribution(scenario)) {
    results.shape_classes.push_back({shape_text(scenario, shape.shape), shape.probability});
  }
  results.environment["threads"] = std::to_string(scenario.measure.threads);
  return results;
}

}  // namespace breakeven
