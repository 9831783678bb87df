#include "compiler/runtime/program.h"

#include <algorithm>
#include <utility>

#include "compiler/runtime/memory_plan.h"
#include "compiler/runtime/program_instance.h"

namespace breakeven {
namespace {

/// Instances kept for reuse; past it the least recently used gives its memory back.
constexpr std::size_t kIdleInstances = 32;

std::size_t slot(ValueId id) { return static_cast<std::size_t>(id.index); }

}  // namespace

Program::Program(Graph graph, std::vector<Step> steps, const WeightMap& weights,
                 ExternBackend& backend, ParallelFor& parallel)
    : graph_(std::move(graph)), steps_(std::move(steps)), backend_(backend), parallel_(parallel) {
  fixed_.resize(graph_.values().size());
  for (const Node& node : graph_.nodes()) {
    if (node.kind == NodeKind::kConstant) fixed_[slot(node.outputs[0])] = node.literal;
    if (node.kind != NodeKind::kWeight) continue;
    const auto found = weights.find(node.name);
    BE_CHECK(found != weights.end(), "weight " << node.name << " is not bound");
    fixed_[slot(node.outputs[0])] = found->second;
  }
  symbol_sources_.assign(graph_.syms.symbols().size(), {-1, -1});
  for (std::size_t i = 0; i < graph_.inputs().size(); ++i) {
    const TensorType& type = graph_.type(graph_.inputs()[i]);
    for (std::size_t d = 0; d < type.sizes.size(); ++d) {
      const auto symbol = graph_.syms.symbol_index(type.sizes[d]);
      if (!symbol.has_value()) continue;
      auto& source = symbol_sources_[static_cast<std::size_t>(*symbol)];
      if (source.first < 0) source = {static_cast<int>(i), static_cast<int>(d)};
    }
  }
}

Program::~Program() = default;

int Program::kernel_count() const {
  return static_cast<int>(std::count_if(steps_.begin(), steps_.end(), [](const Step& step) {
    return step.kind == GroupKind::kFused;
  }));
}

int Program::extern_count() const {
  return static_cast<int>(std::count_if(steps_.begin(), steps_.end(), [](const Step& step) {
    return step.kind == GroupKind::kExtern;
  }));
}

std::int64_t Program::arena_bytes(std::span<const std::int64_t> symbol_values) const {
  return plan_memory(graph_, steps_, symbol_values).arena_bytes;
}

std::int64_t Program::symbol_value(std::size_t symbol, std::span<const HostTensor> inputs) const {
  const auto& [input, dim] = symbol_sources_[symbol];
  // A symbol that no input dim shows is in no size that is evaluated.
  if (input < 0) return 0;
  return inputs[static_cast<std::size_t>(input)].sizes[static_cast<std::size_t>(dim)];
}

std::unique_ptr<ProgramInstance> Program::take_idle(std::span<const HostTensor> inputs) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = idle_.size(); i-- > 0;) {
    const std::span<const std::int64_t> values = idle_[i]->symbol_values();
    std::size_t fits = 0;
    while (fits < values.size() && values[fits] == symbol_value(fits, inputs)) ++fits;
    if (fits < values.size()) continue;
    std::unique_ptr<ProgramInstance> instance = std::move(idle_[i]);
    idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
    return instance;
  }
  return nullptr;
}

Result<bool> Program::run(std::span<const HostTensor> inputs, std::vector<HostTensor>& outputs,
                          RunCounters& counters) {
  std::unique_ptr<ProgramInstance> instance = take_idle(inputs);
  if (instance == nullptr) {
    std::vector<std::int64_t> wanted;
    for (std::size_t s = 0; s < symbol_sources_.size(); ++s) {
      wanted.push_back(symbol_value(s, inputs));
    }
    auto made =
        ProgramInstance::make(graph_, steps_, fixed_, std::move(wanted), backend_, parallel_);
    if (!made.ok()) return made.refusal();
    instance = std::move(made).value();
  }
  Result<bool> done = instance->run(inputs, outputs, counters);
  const std::lock_guard lock(mutex_);
  if (idle_.size() >= kIdleInstances) idle_.erase(idle_.begin());
  idle_.push_back(std::move(instance));
  return done;
}

}  // namespace breakeven
