#include <algorithm>
#include <thread>
#include <utility>

#include "compiler/passes/passes.h"
#include "compiler/runtime/compile.h"
#include "compiler/runtime/guards.h"
#include "compiler/runtime/product_choice.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/error.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

/// Distinct units in the order of their first launch, with how often a request runs each.
struct DistinctUnit {
  const KernelUnit* unit = nullptr;
  int launches = 0;
};

std::vector<DistinctUnit> distinct_units(const std::vector<Step>& steps) {
  std::vector<DistinctUnit> units;
  const auto add = [&units](const KernelUnit& unit) {
    const auto known = std::find_if(units.begin(), units.end(),
                                    [&](const DistinctUnit& one) { return *one.unit == unit; });
    if (known == units.end()) {
      units.push_back({&unit, 1});
    } else {
      ++known->launches;
    }
  };
  for (const Step& step : steps) {
    if (step.kind != GroupKind::kFused) continue;
    add(step.launch.unit);
    if (step.launch.multiply != nullptr) add(*step.launch.multiply);
  }
  return units;
}

std::string print_source(const std::vector<Step>& steps) {
  std::string text;
  for (const DistinctUnit& one : distinct_units(steps)) {
    const bool called = one.unit->entry != "be_kernel";
    text += "// " + std::to_string(one.launches) +
            (called ? " launches a request call this\n" : " launches a request\n") +
            one.unit->text + '\n';
  }
  return text;
}

std::string print_schedules(Graph graph, const FusionPlan& plan) {
  std::string text;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    if (group.kind != GroupKind::kFused) continue;
    text += "group " + std::to_string(g) + '\n' +
            print_schedule(graph, schedule_group(graph, group, vector_unit(detect_cpu()))) + '\n';
  }
  return text;
}

std::string print_guards(const Graph& graph, const Specialization& specialization) {
  std::string text;
  const Guards guards = make_guards(graph, specialization);
  for (std::size_t i = 0; i < guards.checks.size(); ++i) {
    text += to_string(graph, guards.checks[i]) + "    # " + guards.origins[i] + '\n';
  }
  return text;
}

std::string print_cache(const std::vector<Step>& steps, const CompileOptions& options) {
  DriverOptions wanted;
  wanted.name = options.driver;
  wanted.target = detect_cpu();
  auto driver = make_driver(wanted);
  if (!driver.ok()) return driver.refusal().reason + '\n';
  KernelCache cache({.directory = options.cache_dir, .limit_bytes = options.cache_limit_bytes},
                    *driver.value(), wanted.target);
  std::string text =
      "driver  " + driver.value()->identity() + "\nflags   " + driver.value()->flags() +
      "\ntarget  " + wanted.target.to_string() + "\nfolder  " +
      (options.cache_dir.empty() ? "none (memory alone)" : options.cache_dir.string()) + '\n';
  for (const DistinctUnit& one : distinct_units(steps)) {
    const std::string key = cache.key(one.unit->text, one.unit->entry).to_hex();
    const Nanos start = now_ns();
    auto found = cache.get(one.unit->text, one.unit->entry);
    const std::string took = format_duration_ns(static_cast<double>(now_ns() - start));
    text += key + ' ' + one.unit->entry + " x" + std::to_string(one.launches) + ' ';
    if (!found.ok()) {
      text += "failed: " + found.refusal().reason + '\n';
    } else if (found.value().outcome == CacheOutcome::kDisk) {
      text += "from disk in " + took + '\n';
    } else {
      text += "compiled in " + took + ": " + found.value().miss + '\n';
    }
  }
  return text;
}

/// Threads that a model of these options runs on: choices of other counts do not hold for it.
int threads_of(const CompileOptions& options) {
  return options.compile_threads > 0
             ? options.compile_threads
             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string print_choices(const ProductChoice& choice) {
  std::string text;
  for (const std::string& line : choice.lines()) text += "product " + line + '\n';
  return text;
}

}  // namespace

std::vector<std::string> explain_stages() {
  std::vector<std::string> stages = {"import", "specialize"};
  for (const Pass& pass : pipeline()) stages.emplace_back(pass.name);
  stages.insert(stages.end(), {"fuse", "schedule", "source", "guards", "cache"});
  return stages;
}

std::string explain_stage(const Graph& graph, const WeightMap& weights,
                          const CompileOptions& options, ExternBackend& backend,
                          std::span<const HostTensor> inputs, const std::string& stage) {
  const std::vector<std::string> known = explain_stages();
  if (std::find(known.begin(), known.end(), stage) == known.end()) {
    const std::string nearest = nearest_word(stage, known);
    throw UserError({.message = "no compiler stage is called this",
                     .value = stage,
                     .fix = (nearest.empty() ? std::string() : "Did you mean " + nearest + "? ") +
                            "Stages: " + join(known, ", ")});
  }
  if (stage == "import") return print_graph(graph);
  auto bound = bind_symbols(graph, inputs);
  if (!bound.ok()) {
    throw UserError({.message = "the shape does not fit the model: " + bound.refusal().reason,
                     .fix = "Choose a shape inside the model's ranges"});
  }
  // Of policy auto the first program, which serves this shape alone.
  const Specialization specialization =
      Specializer(graph, options.policy).next(std::move(bound).value());
  if (stage == "guards") return print_guards(graph, specialization);
  Graph specialised = specialization.apply(graph);
  if (stage == "specialize") {
    return specialization.fixes_any() ? print_graph(specialised)
                                      : "# policy " + specialization.policy_name() +
                                            ": symbols stay\n" + print_graph(specialised);
  }
  std::vector<StageGraph> passed;
  run_pipeline(std::move(specialised), &passed);
  for (const StageGraph& one : passed) {
    if (one.name == stage) return print_graph(one.graph);
  }
  StageTimer timer;
  ProductChoice choice(options.cache_dir, detect_cpu(), threads_of(options));
  const LeaveProduct leave = [&choice](const Graph& given, const Product& product) {
    return choice.why_library(given, product, nullptr);
  };
  const LoweredGraph lowered = lower(graph, options, detect_cpu(), leave, specialization, timer);
  if (stage == "fuse") return print_plan(lowered.graph, lowered.plan);
  if (stage == "schedule") return print_schedules(lowered.graph, lowered.plan);
  if (stage == "source") return print_source(lowered.steps);
  return print_cache(lowered.steps, options) + print_choices(choice);
}

}  // namespace breakeven
