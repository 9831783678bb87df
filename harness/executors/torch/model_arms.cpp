#include <optional>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/torch/torch_backend.h"
#include "harness/executors/executor.h"
#include "harness/executors/fused_executor.h"
#include "harness/executors/peer_executor.h"
#include "harness/executors/shape_label.h"
#include "harness/executors/signature.h"
#include "harness/executors/torch/aot_executor.h"

namespace breakeven {
namespace {

LoadedModel read_archive(const std::filesystem::path& archive, std::vector<Stage> stages) {
  const Nanos start = now_ns();
  ImportedModel imported = import_pt2(archive);
  stages.push_back({"import", now_ns() - start});
  return {std::move(imported.graph), std::move(imported.weights), std::move(stages)};
}

/// By the file's extension: a torch.export archive, or graph text. A factory's model is captured.
LoadedModel read_model(const ExecutorContext& context) {
  const Scenario& scenario = *context.scenario;
  set_torch_threads(context.threads);
  if (scenario.model.file.empty() && !scenario.model.factory.empty()) {
    std::vector<Stage> stages;
    const std::filesystem::path archive = capture_model(context, stages);
    return read_archive(archive, std::move(stages));
  }
  const std::string extension = std::filesystem::path(scenario.model.file).extension();
  if (extension == ".ir") return load_ir_model(scenario);
  check_model_file(scenario);
  if (extension != ".pt2") {
    throw UserError(Diagnostic{scenario.path.string(), 0, 0, "unknown kind of model file",
                               scenario.model.file, "Name a .pt2 or .ir file in model.file."});
  }
  return read_archive(scenario.model.file, {});
}

LoadedModel load_model(const ExecutorContext& context) {
  LoadedModel model = read_model(context);
  check_signature(*context.scenario, model.graph);
  return model;
}

FusedBase torch_base() {
  return {load_model, make_aten_backend, [](int threads) {
            set_torch_threads(threads);
            return make_aten_parallel();
          }};
}

std::vector<HostTensor> run_or_throw(EagerModel& model, const Scenario& scenario,
                                     std::span<const HostTensor> inputs) {
  auto outputs = model.run(inputs);
  if (outputs.ok()) return std::move(outputs).value();
  throw UserError(Diagnostic{
      scenario.path.string(), 0, 0, "the model refuses the request: " + outputs.refusal().reason,
      shape_label(scenario, inputs), "Make the scenario's inputs and dims fit the model."});
}

/// LibTorch op by op: the baseline.
class EagerExecutor final : public Executor {
 public:
  explicit EagerExecutor(const ExecutorContext& context) : context_(context) {}

  PrepareOutcome prepare() override {
    PrepareOutcome outcome;
    const LoadedModel loaded = load_model(context_);
    outcome.stages = loaded.stages;
    const Nanos start = now_ns();
    model_.emplace(loaded.graph, loaded.weights);
    for (const Node& node : loaded.graph.nodes()) ops_ += node.kind == NodeKind::kOp ? 1 : 0;
    outcome.stages.push_back({"load", now_ns() - start});
    return outcome;
  }

  RunOutcome run(std::span<const HostTensor> inputs) override {
    ++requests_;
    return {run_or_throw(*model_, *context_.scenario, inputs), {}, false};
  }

  Counters counters() const override {
    return {
        {"requests", requests_}, {"extern_calls_per_request", ops_}, {"kernels_per_request", 0}};
  }

 private:
  ExecutorContext context_;
  std::optional<EagerModel> model_;
  std::int64_t requests_ = 0, ops_ = 0;
};

class TorchAccuracyReference final : public AccuracyReference {
 public:
  explicit TorchAccuracyReference(const ExecutorContext& context)
      : context_(context),
        loaded_(load_model(context)),
        eager_(loaded_.graph, loaded_.weights),
        fp64_(loaded_.graph, loaded_.weights, true) {}

  std::vector<HostTensor> run_eager(std::span<const HostTensor> inputs) override {
    return run_or_throw(eager_, *context_.scenario, inputs);
  }
  std::vector<HostTensor> run_fp64(std::span<const HostTensor> inputs) override {
    return run_or_throw(fp64_, *context_.scenario, inputs);
  }

 private:
  ExecutorContext context_;
  LoadedModel loaded_;
  EagerModel eager_, fp64_;
};

std::unique_ptr<Executor> make_fused(const std::string& arm, const ExecutorContext& context) {
  return make_fused_executor(arm, context, torch_base());
}

}  // namespace

ArmTable model_arms() {
  ArmTable arms = {
      {"eager", "LibTorch " + torch_version() + ", op by op",
       [](const std::string&, const ExecutorContext& context) -> std::unique_ptr<Executor> {
         return std::make_unique<EagerExecutor>(context);
       }},
      {"fused:static", "this compiler, one program for each exact shape", make_fused},
      {"fused:dynamic", "this compiler, one program for all shapes in range", make_fused},
      {"fused:auto", "this compiler, a size is a constant until it varies", make_fused},
  };
  for (ArmKind& arm : python_arms()) arms.push_back(std::move(arm));
  arms.push_back({"aot-inductor", "AOTInductor's package, run by LibTorch", make_aot_executor});
  return arms;
}

std::unique_ptr<AccuracyReference> make_accuracy_reference(const ExecutorContext& context) {
  // A model that torch.export refuses is still compared, with its own eager form.
  if (context.scenario->model.file.empty() && !context.scenario->model.factory.empty()) {
    return make_python_reference(context);
  }
  return std::make_unique<TorchAccuracyReference>(context);
}

Graph read_graph(const Scenario& scenario) { return read_model({.scenario = &scenario}).graph; }

std::map<std::string, std::string> model_environment() {
  std::map<std::string, std::string> found = compiler_environment();
  found.insert({"torch", torch_version()});
  return found;
}

std::string explain_model(const std::string& arm, const ExecutorContext& context,
                          std::span<const HostTensor> inputs, const std::string& stage) {
  return explain_fused(arm, context, torch_base(), inputs, stage);
}

std::vector<std::string> explain_model_stages() { return explain_stages(); }

}  // namespace breakeven
