#include <optional>
#include <utility>

#include "compiler/support/error.h"
#include "harness/executors/executor.h"
#include "harness/executors/fused_executor.h"
#include "harness/executors/shape_label.h"
#include "harness/executors/signature.h"

namespace breakeven {
namespace {

LoadedModel read_model(const ExecutorContext& context) {
  const Scenario& scenario = *context.scenario;
  check_model_file(scenario);
  if (std::filesystem::path(scenario.model.file).extension() != ".ir") {
    throw UserError(Diagnostic{
        scenario.path.string(), 0, 0, "this build has no LibTorch and reads graph text alone",
        scenario.model.file, "Name an .ir file, or build with -DBREAKEVEN_TORCH=ON."});
  }
  return load_ir_model(scenario);
}

LoadedModel load_model(const ExecutorContext& context) {
  LoadedModel model = read_model(context);
  check_signature(*context.scenario, model.graph);
  return model;
}

FusedBase reference_base() {
  return {load_model, make_reference_backend,
          [](int) -> std::unique_ptr<ParallelFor> { return std::make_unique<SerialFor>(); }};
}

std::vector<HostTensor> interpret_or_throw(const LoadedModel& model, const Scenario& scenario,
                                           std::span<const HostTensor> inputs) {
  auto outputs = interpret_reference(model.graph, model.weights, inputs);
  if (outputs.ok()) return std::move(outputs).value();
  throw UserError(Diagnostic{
      scenario.path.string(), 0, 0, "the model refuses the request: " + outputs.refusal().reason,
      shape_label(scenario, inputs), "Make the scenario's inputs and dims fit the model."});
}

/// The graph by plain loops in fp64: right, and slow.
class ReferenceExecutor final : public Executor {
 public:
  explicit ReferenceExecutor(const ExecutorContext& context) : context_(context) {}

  PrepareOutcome prepare() override {
    PrepareOutcome outcome;
    model_.emplace(load_model(context_));
    outcome.stages = model_->stages;
    return outcome;
  }

  RunOutcome run(std::span<const HostTensor> inputs) override {
    ++requests_;
    return {interpret_or_throw(*model_, *context_.scenario, inputs), {}, false};
  }

  Counters counters() const override { return {{"requests", requests_}}; }

 private:
  ExecutorContext context_;
  std::optional<LoadedModel> model_;
  std::int64_t requests_ = 0;
};

/// The interpreter stands for both: it is the only eager there is without LibTorch.
class InterpretedReference final : public AccuracyReference {
 public:
  explicit InterpretedReference(const ExecutorContext& context)
      : context_(context), model_(load_model(context)) {}

  std::vector<HostTensor> run_eager(std::span<const HostTensor> inputs) override {
    return interpret_or_throw(model_, *context_.scenario, inputs);
  }
  std::vector<HostTensor> run_fp64(std::span<const HostTensor> inputs) override {
    return interpret_or_throw(model_, *context_.scenario, inputs);
  }

 private:
  ExecutorContext context_;
  LoadedModel model_;
};

std::unique_ptr<Executor> make_fused(const std::string& arm, const ExecutorContext& context) {
  return make_fused_executor(arm, context, reference_base());
}

}  // namespace

ArmTable model_arms() {
  return {
      {"reference", "the graph by plain loops in fp64",
       [](const std::string&, const ExecutorContext& context) -> std::unique_ptr<Executor> {
         return std::make_unique<ReferenceExecutor>(context);
       }},
      {"fused:static", "this compiler, one program for each exact shape", make_fused},
      {"fused:dynamic", "this compiler, one program for all shapes in range", make_fused},
      {"fused:auto", "this compiler, a size is a constant until it varies", make_fused},
  };
}

std::unique_ptr<AccuracyReference> make_accuracy_reference(const ExecutorContext& context) {
  return std::make_unique<InterpretedReference>(context);
}

Graph read_graph(const Scenario& scenario) { return read_model({.scenario = &scenario}).graph; }

std::map<std::string, std::string> model_environment() {
  std::map<std::string, std::string> found = compiler_environment();
  found.insert({"torch", "not built in"});
  return found;
}

std::string explain_model(const std::string& arm, const ExecutorContext& context,
                          std::span<const HostTensor> inputs, const std::string& stage) {
  return explain_fused(arm, context, reference_base(), inputs, stage);
}

std::vector<std::string> explain_model_stages() { return explain_stages(); }

}  // namespace breakeven
