#include "harness/executors/fused_executor.h"

#include <optional>
#include <utility>

#include "compiler/codegen/driver.h"
#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/text.h"
#include "harness/executors/shape_label.h"

namespace breakeven {
namespace {

class FusedExecutor final : public Executor {
 public:
  FusedExecutor(const std::string& arm, const ExecutorContext& context, const FusedBase& base)
      : context_(context), base_(base), options_(compile_options(arm, context)) {}

  PrepareOutcome prepare() override {
    PrepareOutcome outcome;
    LoadedModel model = base_.load(context_);
    outcome.stages = std::move(model.stages);
    backend_ = base_.make_backend();
    parallel_ = base_.make_parallel(context_.threads);
    model_.emplace(std::move(model.graph), std::move(model.weights), options_, *backend_,
                   *parallel_);
    return outcome;
  }

  RunOutcome run(std::span<const HostTensor> inputs) override {
    auto result = model_->run(inputs);
    if (!result.ok()) {
      throw UserError(Diagnostic{context_.scenario->path.string(), 0, 0,
                                 "the model refuses the request: " + result.refusal().reason,
                                 shape_label(*context_.scenario, inputs),
                                 "Make the scenario's inputs and dims fit the model."});
    }
    CompiledModel::RunResult& run = result.value();
    ++requests_;
    if (run.eager) ++eager_requests_;
    for (const CompileEvent& event : run.compiles) {
      if (event.trigger == CompileTrigger::kRecompile) ++recompiles_;
    }
    return {std::move(run.outputs), std::move(run.compiles), run.eager};
  }

  Counters counters() const override {
    if (!model_) return {};
    const RuntimeCounters now = model_->counters();
    const std::int64_t compiled_requests = requests_ - eager_requests_;
    const auto per_request = [&](std::int64_t total) {
      return compiled_requests > 0 ? total / compiled_requests : 0;
    };
    return {{"requests", requests_},
            {"fallback_requests", eager_requests_},
            {"recompiles", recompiles_},
            {"graph_breaks", 0},  // A .pt2 or .ir program is one graph.
            {"programs", now.programs},
            {"guard_failures", now.guard_failures},
            {"kernels_compiled", now.kernels_compiled},
            {"kernels_from_memory", now.kernels_from_memory},
            {"kernels_from_disk", now.kernels_from_disk},
            {"bad_cache_files", now.bad_cache_files},
            {"kernel_launches", now.kernel_launches},
            {"extern_calls", now.extern_calls},
            {"kernels_per_request", per_request(now.kernel_launches)},
            {"extern_calls_per_request", per_request(now.extern_calls)}};
  }

  std::vector<Fallback> fallbacks() const override {
    return model_ ? model_->fallbacks() : std::vector<Fallback>{};
  }

 private:
  ExecutorContext context_;
  FusedBase base_;
  CompileOptions options_;
  std::unique_ptr<ExternBackend> backend_;  // Both outlive the model.
  std::unique_ptr<ParallelFor> parallel_;
  std::optional<CompiledModel> model_;
  std::int64_t requests_ = 0, eager_requests_ = 0, recompiles_ = 0;
};

}  // namespace

void check_model_file(const Scenario& scenario) {
  const std::string& file = scenario.model.file;
  std::error_code error;
  if (!file.empty() && std::filesystem::is_regular_file(file, error)) return;
  std::string fix = "Name a .pt2 or .ir file in model.file.";
  if (!file.empty() && !scenario.model.export_args.empty()) {
    fix = "Make it: .venv/bin/python scripts/export_model.py " +
          join(scenario.model.export_args, " ") + " -o " + file;
  }
  throw UserError(
      Diagnostic{scenario.path.string(), 0, 0, "the scenario's model file is missing", file, fix});
}

LoadedModel load_ir_model(const Scenario& scenario) {
  check_model_file(scenario);
  const Nanos start = now_ns();
  LoadedModel model;
  model.graph = parse_graph(read_file(scenario.model.file), scenario.model.file);
  const Nanos parsed = now_ns();
  initialise_weights(model.graph, model.weights);
  model.stages = {{"import", parsed - start}, {"load", now_ns() - parsed}};
  return model;
}

CompileOptions compile_options(const std::string& arm, const ExecutorContext& context) {
  CompileOptions options;
  if (arm == "fused:static") {
    options.policy = ShapePolicy::kStatic;
  } else if (arm == "fused:dynamic") {
    options.policy = ShapePolicy::kDynamic;
  } else if (arm == "fused:auto") {
    options.policy = ShapePolicy::kAuto;
  } else {
    throw UserError(Diagnostic{context.scenario->path.string(), 0, 0, "no compiled arm", arm,
                               "Choose fused:static, fused:dynamic or fused:auto."});
  }
  options.cache_dir = context.cache_dir;
  options.compile_threads = context.threads;
  return options;
}

std::map<std::string, std::string> compiler_environment() {
  const auto driver = make_driver({.target = detect_cpu()});
  if (!driver.ok()) return {{"compiler", "none: " + driver.refusal().reason}};
  std::map<std::string, std::string> found = {{"compiler", driver.value()->identity()}};
  const auto in_process = make_driver({.name = "clang", .target = detect_cpu()});
  if (!in_process.ok()) found["compiler_fallback"] = in_process.refusal().reason;
  return found;
}

std::unique_ptr<Executor> make_fused_executor(const std::string& arm,
                                              const ExecutorContext& context,
                                              const FusedBase& base) {
  return std::make_unique<FusedExecutor>(arm, context, base);
}

std::string explain_fused(const std::string& arm, const ExecutorContext& context,
                          const FusedBase& base, std::span<const HostTensor> inputs,
                          const std::string& stage) {
  const CompileOptions options = compile_options(arm, context);
  const LoadedModel model = base.load(context);
  const auto backend = base.make_backend();
  return explain_stage(model.graph, model.weights, options, *backend, inputs, stage);
}

}  // namespace breakeven
