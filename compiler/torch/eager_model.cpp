#include <c10/core/InferenceMode.h>

#include <utility>

#include "compiler/support/error.h"
#include "compiler/torch/aten_op.h"
#include "compiler/torch/aten_tensor.h"
#include "compiler/torch/torch_backend.h"

namespace breakeven {
namespace {

at::Tensor widened(at::Tensor tensor) {
  return c10::isFloatingType(tensor.scalar_type()) ? tensor.to(c10::ScalarType::Double) : tensor;
}

/// One node with the registers it reads and writes.
struct Step {
  AtenOp op;
  std::vector<std::int32_t> operands;
  std::vector<std::int32_t> outputs;
  std::vector<std::int32_t> dead;  ///< Registers whose last reader this step is.
};

}  // namespace

struct EagerModel::State {
  Graph graph;
  bool as_fp64 = false;
  std::vector<Step> steps;
  std::vector<at::Tensor> registers;  ///< By ValueId; weights stay, the rest lives for one run.
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> results;
  std::vector<std::int32_t> transient;  ///< What a run leaves behind: inputs and outputs.
  torch::jit::Stack stack;
  std::vector<at::Tensor> produced;

  void load(const Node& node, const WeightMap& weights);
  void add_step(const Node& node);
  void find_last_uses();
  Result<std::vector<HostTensor>> run_steps(std::span<const std::int64_t> symbols);
};

void EagerModel::State::load(const Node& node, const WeightMap& weights) {
  const HostTensor* source = &node.literal;
  if (node.kind == NodeKind::kWeight) {
    const auto found = weights.find(node.name);
    if (found == weights.end()) {
      throw UserError(Diagnostic{"", 0, 0, "weight has no values", node.name,
                                 "Give it an init rule, or bind it from an archive."});
    }
    source = &found->second;
  }
  at::Tensor tensor = share_tensor(*source);
  if (as_fp64) tensor = widened(std::move(tensor));
  registers[static_cast<std::size_t>(node.outputs.front().index)] = std::move(tensor);
}

void EagerModel::State::add_step(const Node& node) {
  auto op = AtenOp::bind(graph, node, {.as_fp64 = as_fp64, .view_may_copy = as_fp64});
  if (!op.ok()) {
    throw UserError(Diagnostic{"", 0, 0, "the model cannot run eagerly: " + op.refusal().reason, "",
                               "Load the library that registers the operator."});
  }
  Step step{std::move(op).value(), {}, {}, {}};
  for_each_operand(node, [&](ValueId id) { step.operands.push_back(id.index); });
  for (const ValueId id : node.outputs) step.outputs.push_back(id.index);
  steps.push_back(std::move(step));
}

void EagerModel::State::find_last_uses() {
  std::vector<bool> kept(registers.size(), false);  // Or already released by a later step.
  for (const Node& node : graph.nodes()) {
    if (node.kind == NodeKind::kWeight || node.kind == NodeKind::kConstant) {
      kept[static_cast<std::size_t>(node.outputs.front().index)] = true;
    }
  }
  for (const std::int32_t result : results) kept[static_cast<std::size_t>(result)] = true;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    for (const auto* group : {&step->operands, &step->outputs}) {
      for (const std::int32_t index : *group) {
        if (kept[static_cast<std::size_t>(index)]) continue;
        kept[static_cast<std::size_t>(index)] = true;
        step->dead.push_back(index);
      }
    }
  }
}

Result<std::vector<HostTensor>> EagerModel::State::run_steps(
    std::span<const std::int64_t> symbols) {
  for (Step& step : steps) {
    step.op.call(stack, symbols, [&](int operand) -> const at::Tensor& {
      return registers[static_cast<std::size_t>(step.operands[static_cast<std::size_t>(operand)])];
    });
    const auto taken = step.op.take_outputs(stack, produced);
    if (!taken.ok()) return taken.refusal();
    for (std::size_t i = 0; i < produced.size(); ++i) {
      registers[static_cast<std::size_t>(step.outputs[i])] = std::move(produced[i]);
    }
    for (const std::int32_t index : step.dead) registers[static_cast<std::size_t>(index)].reset();
  }
  std::vector<HostTensor> outputs;
  for (const std::int32_t index : results) {
    auto output = to_host_tensor(registers[static_cast<std::size_t>(index)]);
    if (!output.ok()) return output.refusal();
    outputs.push_back(std::move(output).value());
  }
  return outputs;
}

EagerModel::EagerModel(const Graph& graph, const WeightMap& weights, bool as_fp64)
    : state_(std::make_unique<State>()) {
  const c10::InferenceMode inference;
  state_->graph = graph;
  state_->as_fp64 = as_fp64;
  state_->registers.resize(graph.values().size());
  for (const ValueId id : graph.inputs()) state_->inputs.push_back(id.index);
  for (const ValueId id : graph.outputs()) state_->results.push_back(id.index);
  std::vector<bool> constant(graph.values().size(), false);
  for (const Node& node : graph.nodes()) {
    if (node.kind == NodeKind::kOp) {
      state_->add_step(node);
    } else if (node.kind != NodeKind::kInput) {
      state_->load(node, weights);
      constant[static_cast<std::size_t>(node.outputs.front().index)] = true;
    }
  }
  for (std::size_t i = 0; i < constant.size(); ++i) {
    if (!constant[i]) state_->transient.push_back(static_cast<std::int32_t>(i));
  }
  state_->find_last_uses();
}

EagerModel::~EagerModel() = default;

Result<std::vector<HostTensor>> EagerModel::run(std::span<const HostTensor> inputs) {
  const auto symbols = bind_symbols(state_->graph, inputs);
  if (!symbols.ok()) return symbols.refusal();
  const c10::InferenceMode inference;
  // Nothing of a run outlives it, whichever way it ends.
  struct Release {
    State& state;
    ~Release() {
      for (const std::int32_t index : state.transient) {
        state.registers[static_cast<std::size_t>(index)].reset();
      }
      state.stack.clear();
      state.produced.clear();
    }
  } const release{*state_};
  try {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      at::Tensor tensor = share_tensor(inputs[i]);
      if (state_->as_fp64) tensor = widened(std::move(tensor));
      state_->registers[static_cast<std::size_t>(state_->inputs[i])] = std::move(tensor);
    }
    return state_->run_steps(symbols.value());
  } catch (const std::exception& error) {
    return Refusal{"eager_failed", message_of(error)};
  }
}

}  // namespace breakeven
