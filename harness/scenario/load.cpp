#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/support/files.h"
#include "compiler/support/hash.h"
#include "compiler/support/text.h"
#include "harness/scenario/cross_check.h"
#include "harness/scenario/effective.h"
#include "harness/scenario/policies.h"
#include "harness/scenario/scenario.h"

namespace breakeven {
namespace {

using Kind = JsonNode::Kind;

constexpr std::uint64_t kMaxScenarioBytes = std::uint64_t{4} << 20;

/// Reads values out of a tree that apply_keys has been through; what a fault left out reads as the
/// fallback.
struct Reader {
  const JsonNode& node;

  Reader at(std::string_view name) const {
    static const JsonNode kNothing;
    const JsonNode* found = node.find(name);
    return {found != nullptr ? *found : kNothing};
  }
  bool has(std::string_view name) const { return node.find(name) != nullptr; }
  std::string text(std::string_view name) const { return at(name).node.text; }
  double number(std::string_view name) const { return at(name).node.number; }
  std::int64_t integer(std::string_view name) const {
    return static_cast<std::int64_t>(at(name).node.number);
  }
  std::vector<std::string> texts(std::string_view name) const {
    std::vector<std::string> list;
    for (const JsonNode& item : at(name).node.items) list.push_back(item.text);
    return list;
  }
};

std::string absolute_path(const std::filesystem::path& directory, const std::string& file) {
  if (file.empty()) return {};
  return std::filesystem::absolute(directory / file).lexically_normal().string();
}

ScriptSpec read_script(Reader in) {
  ScriptSpec script{.service_ms = in.number("service_ms"),
                    .first_shape_stall_ms = in.number("first_shape_stall_ms"),
                    .stalls = {},
                    .unlimited_parallelism = in.at("unlimited_parallelism").node.boolean};
  for (const JsonNode& item : in.at("stalls").node.items) {
    script.stalls.push_back({Reader{item}.number("at_s"), Reader{item}.number("for_s")});
  }
  return script;
}

DimSource read_dim_source(Reader in, const std::filesystem::path& directory) {
  DimSource source;
  const std::string kind = in.text("kind");
  if (kind == "fixed") source.kind = DimSource::Kind::kFixed;
  if (kind == "histogram") source.kind = DimSource::Kind::kHistogram;
  if (kind == "trace_column") source.kind = DimSource::Kind::kTraceColumn;
  if (kind == "list") source.kind = DimSource::Kind::kList;
  if (kind == "log_normal") source.kind = DimSource::Kind::kLogNormal;
  source.fixed = in.integer("size");
  source.file = absolute_path(directory, in.text("file"));
  source.value_column = in.text("value_column");
  source.count_column = in.text("count_column");
  for (const JsonMember& member : in.at("where").node.members) {
    source.where[member.name] = member.value.text;
  }
  for (const JsonNode& item : in.at("sizes").node.items) {
    source.list.emplace_back(Reader{item}.integer("size"), Reader{item}.number("weight"));
  }
  source.mu = in.number("mu");
  source.sigma = in.number("sigma");
  return source;
}

TrafficSpec read_traffic(Reader in, const std::filesystem::path& directory) {
  TrafficSpec traffic;
  const std::string kind = in.text("kind");
  if (kind == "trace") traffic.kind = TrafficSpec::Kind::kTrace;
  if (kind == "poisson") traffic.kind = TrafficSpec::Kind::kPoisson;
  if (kind == "gamma") traffic.kind = TrafficSpec::Kind::kGamma;
  if (kind == "closed_loop") traffic.kind = TrafficSpec::Kind::kClosedLoop;
  traffic.file = absolute_path(directory, in.text("file"));
  traffic.time_column = in.text("time_column");
  traffic.rate_per_s = in.number("rate_per_s");
  traffic.cv = in.has("cv") ? in.number("cv") : 1;
  traffic.clients = in.has("clients") ? static_cast<int>(in.integer("clients")) : 1;
  traffic.origin = in.text("origin");
  return traffic;
}

MeasureSpec read_measure(Reader in) {
  MeasureSpec measure;
  measure.processes = static_cast<int>(in.integer("processes"));
  measure.start_seconds = in.number("start_seconds");
  measure.start_cap_requests = static_cast<int>(in.integer("start_cap_requests"));
  measure.steady_requests = static_cast<int>(in.integer("steady_requests"));
  measure.steady_cap_seconds = in.number("steady_cap_seconds");
  measure.traffic_seconds = in.number("traffic_seconds");
  measure.warmup_coverage = in.number("warmup_coverage");
  measure.warmup_shapes = static_cast<int>(in.integer("warmup_shapes"));
  measure.accuracy_seconds = in.number("accuracy_seconds");
  measure.threads = static_cast<int>(in.integer("threads"));
  measure.trial_timeout_s = in.number("trial_timeout_s");
  measure.seed = static_cast<std::uint64_t>(in.number("seed"));
  return measure;
}

void read_inputs(Reader in, Scenario& scenario) {
  for (const JsonMember& member : in.at("dims").node.members) {
    const Reader dim{member.value};
    scenario.dims.push_back({member.name, dim.integer("min"), dim.integer("max")});
  }
  for (const JsonNode& item : in.at("inputs").node.items) {
    const Reader input{item};
    scenario.inputs.push_back({.name = input.text("name"),
                               .dtype = parse_dtype(input.text("dtype")).value_or(DType::kF32),
                               .sizes = {},
                               .fill_min = input.number("fill_min"),
                               .fill_max = input.number("fill_max"),
                               .line = item.place.line,
                               .column = item.place.column});
    for (const JsonNode& size : input.at("sizes").node.items) {
      const bool number = size.kind == Kind::kNumber;
      scenario.inputs.back().sizes.push_back(
          number ? std::to_string(static_cast<std::int64_t>(size.number)) : size.text);
    }
  }
}

Scenario read_scenario(Reader in, const std::filesystem::path& path) {
  const std::filesystem::path directory = path.parent_path();
  Scenario scenario;
  scenario.path = path;
  scenario.name = in.text("name");
  scenario.question = in.text("question");
  const Reader model = in.at("model");
  scenario.model.name = model.text("name");
  scenario.model.file = absolute_path(directory, model.text("file"));
  scenario.model.factory = model.text("factory");
  scenario.model.export_args = model.texts("export");
  if (model.has("script")) scenario.model.script = read_script(model.at("script"));
  read_inputs(in, scenario);
  for (const JsonMember& member : in.at("shapes").node.members) {
    scenario.shapes[member.name] = read_dim_source({member.value}, directory);
  }
  scenario.shape_order = in.text("shape_order");
  scenario.traffic = read_traffic(in.at("traffic"), directory);
  scenario.max_batch = static_cast<int>(in.at("batching").integer("max_batch"));
  scenario.max_delay_ms = in.at("batching").number("max_delay_ms");
  scenario.slo_p99_ms = in.number("slo_p99_ms");
  scenario.slo_source = in.text("slo_source");
  scenario.arms = in.texts("arms");
  const Reader life = in.at("life");
  scenario.life = {life.number("restarts_per_day"), life.text("origin"), life.text("source"),
                   life.at("cache_survives_restart").node.boolean};
  const Reader price = in.at("price");
  scenario.price = {price.number("usd_per_hour"), price.text("device"), price.text("date"),
                    price.text("source"), price.text("origin")};
  scenario.engineer_days = in.at("engineering").number("days");
  scenario.usd_per_engineer_day = in.at("engineering").number("usd_per_day");
  scenario.policy = in.text("policy");
  scenario.measure = read_measure(in.at("measure"));
  return scenario;
}

/// Text of the policy; a fault of its own file goes into `diagnostics`.
std::string read_policy(const Scenario& scenario, const JsonNode& named,
                        std::vector<Diagnostic>& diagnostics) {
  if (!scenario.policy.ends_with(".json")) {
    if (std::optional<std::string> text = built_in_policy(scenario.policy)) return *text;
    const std::vector<std::string> names = built_in_policy_names();
    diagnostics.push_back({.file = scenario.path.string(),
                           .line = named.place.line,
                           .column = named.place.column,
                           .message = "\"policy\" names no policy that comes with breakeven",
                           .value = '"' + scenario.policy + '"',
                           .fix = "Choose one of " + join(names, ", ") + ", or name a .json file"});
    return {};
  }
  const std::filesystem::path file = scenario.path.parent_path() / scenario.policy;
  try {
    std::string text = read_file(file, kMaxScenarioBytes);
    parse_json_tree(text, file.string(), diagnostics);
    return text;
  } catch (const UserError& error) {
    // Parsing appends its faults itself; those of reading come with the error alone.
    if (diagnostics.empty() ||
        to_string(diagnostics.back()) != to_string(error.diagnostics().back())) {
      diagnostics.push_back(error.diagnostics().front());
    }
    return {};
  }
}

std::string hash_of(const Scenario& scenario) {
  std::string all = scenario.canonical_json + '\n' + scenario.policy_json + '\n';
  std::set<std::string> files;
  if (!scenario.traffic.file.empty()) files.insert(scenario.traffic.file);
  for (const auto& [name, source] : scenario.shapes) {
    if (!source.file.empty()) files.insert(source.file);
  }
  // Names are left out: the same data under another path is the same scenario.
  for (const std::string& file : files) all += hash_bytes(read_file(file)).to_hex() + '\n';
  return hash_bytes(all).to_hex();
}

}  // namespace

std::optional<std::int64_t> fixed_size(const std::string& size) {
  if (size.front() < '0' || size.front() > '9') return std::nullopt;
  return std::stoll(size);
}

Scenario load_scenario(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, kMaxScenarioBytes);
  const std::string shown = path.string();
  std::vector<Diagnostic> diagnostics;
  const JsonNode given = parse_json_tree(bytes, shown, diagnostics);
  const Effective effective = apply_keys(given, scenario_keys(), shown, diagnostics);
  Scenario scenario = read_scenario({effective.root}, path);
  cross_check(scenario, effective, diagnostics);
  if (const JsonNode* named = effective.root.find("policy")) {
    scenario.policy_json = read_policy(scenario, *named, diagnostics);
  }
  if (!diagnostics.empty()) {
    std::stable_sort(diagnostics.begin(), diagnostics.end(), [&](const auto& a, const auto& b) {
      if ((a.file == shown) != (b.file == shown)) return a.file == shown;
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    throw UserError(diagnostics);
  }
  scenario.canonical_json = canonical_text(effective.root);
  scenario.hash = hash_of(scenario);
  scenario.file_hash = scenario.hash;
  return scenario;
}

}  // namespace breakeven
