#include "compiler/runtime/program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compiler/codegen/emit.h"
#include "compiler/runtime/dense_copy.h"
#include "compiler/runtime/memory_plan.h"

namespace breakeven {
namespace {

/// Scalar operations that one worker should get at least: below it, waking another costs more.
constexpr std::int64_t kGrainOperations = 32 * 1024;
/// Scratch up to this size lives on the stack of the worker.
constexpr std::int64_t kStackScratch = 32 * 1024;
/// Instances kept for reuse; past it the least recently used gives its memory back.
constexpr std::size_t kIdleInstances = 32;

std::size_t slot(ValueId id) { return static_cast<std::size_t>(id.index); }

std::shared_ptr<void> aligned_bytes(std::int64_t bytes) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t rounded =
      (static_cast<std::size_t>(bytes) + kAlignment - 1) & ~(kAlignment - 1);
  void* memory = std::aligned_alloc(kAlignment, std::max(rounded, kAlignment));
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, [](void* owned) { std::free(owned); }};
}

std::int32_t status_in(const void* scratch) {
  std::int32_t status = 0;
  std::memcpy(&status, scratch, sizeof status);
  return status;
}

/// Runs [begin, end) and returns what the kernel says of it.
std::int32_t call_kernel(KernelEntry entry, const void* const* in, void* const* out,
                         const std::int64_t* sizes, std::int64_t begin, std::int64_t end,
                         std::int64_t scratch_bytes) {
  if (scratch_bytes <= kStackScratch) {
    alignas(64) char scratch[kStackScratch];
    entry(in, out, sizes, begin, end, scratch);
    return status_in(scratch);
  }
  const std::shared_ptr<void> scratch = aligned_bytes(scratch_bytes);
  entry(in, out, sizes, begin, end, scratch.get());
  return status_in(scratch.get());
}

}  // namespace

/// Buffers and bound calls for one set of symbol values; one caller at a time.
struct Program::Instance {
  struct Launch {
    std::vector<const void*> in;
    std::vector<void*> out;
    std::vector<std::int64_t> sizes;
    std::vector<HostTensor> fresh;  ///< Type and layout of each output; no memory.
    std::int64_t extent = 0;
    std::int64_t grain = 1;
    std::int64_t scratch_bytes = 0;
  };
  std::vector<std::int64_t> symbol_values;
  MemoryPlan plan;
  std::shared_ptr<void> arena;
  std::vector<HostTensor> values;  ///< By value: fixed and arena ones stay, the rest come and go.
  std::vector<std::vector<ValueId>> dies;        ///< By step: values to drop after it.
  std::vector<Launch> launches;                  ///< By step.
  std::vector<std::unique_ptr<ExternOp>> calls;  ///< By step.
  std::vector<HostTensor> operands;              ///< Of the call under way.
};

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

std::vector<std::int64_t> Program::symbol_values(std::span<const HostTensor> inputs) const {
  std::vector<std::int64_t> values;
  values.reserve(symbol_sources_.size());
  for (const auto& [input, dim] : symbol_sources_) {
    // A symbol that no input dim shows is in no size that is evaluated.
    values.push_back(
        input < 0 ? 0
                  : inputs[static_cast<std::size_t>(input)].sizes[static_cast<std::size_t>(dim)]);
  }
  return values;
}

Result<std::unique_ptr<Program::Instance>> Program::make_instance(
    std::vector<std::int64_t> symbol_values) const {
  auto instance = std::make_unique<Instance>();
  const auto evaluate = [&](Sym sym) { return graph_.syms.evaluate(sym, symbol_values); };
  instance->plan = plan_memory(graph_, steps_, symbol_values);
  instance->arena = aligned_bytes(instance->plan.arena_bytes);
  instance->values = fixed_;
  for (std::size_t v = 0; v < fixed_.size(); ++v) {
    if (instance->plan.offset[v] == MemoryPlan::kNotInArena) continue;
    const TensorType& type = graph_.values()[v].type;
    HostTensor& value = instance->values[v];
    value.dtype = type.dtype;
    for (const Sym size : type.sizes) value.sizes.push_back(evaluate(size));
    value.strides = contiguous_strides(value.sizes);
    value.storage = instance->arena;
    value.data = static_cast<char*>(instance->arena.get()) + instance->plan.offset[v];
  }
  instance->dies.resize(steps_.size());
  std::vector<bool> answers(fixed_.size(), false);
  for (const ValueId output : graph_.outputs()) answers[slot(output)] = true;
  for (std::size_t v = 0; v < fixed_.size(); ++v) {
    const bool stays = answers[v] || fixed_[v].data != nullptr || instance->plan.offset[v] >= 0;
    const int last = instance->plan.last_use[v];
    if (stays || last < 0) continue;
    instance->dies[static_cast<std::size_t>(last)].push_back({static_cast<std::int32_t>(v)});
  }
  instance->launches.resize(steps_.size());
  instance->calls.resize(steps_.size());
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    if (step.kind != GroupKind::kFused) {
      auto call = backend_.bind(graph_, graph_.nodes()[static_cast<std::size_t>(step.node)]);
      if (!call.ok()) return call.refusal();
      instance->calls[s] = std::move(call).value();
      continue;
    }
    Instance::Launch& launch = instance->launches[s];
    launch.in.resize(step.launch.inputs.size());
    launch.out.resize(step.launch.outputs.size());
    for (const Sym size : step.launch.sizes) launch.sizes.push_back(evaluate(size));
    for (const ValueId output : step.launch.outputs) {
      const TensorType& type = graph_.type(output);
      HostTensor& layout = launch.fresh.emplace_back();
      layout.dtype = type.dtype;
      for (const Sym size : type.sizes) layout.sizes.push_back(evaluate(size));
      layout.strides = contiguous_strides(layout.sizes);
    }
    launch.extent = evaluate(step.launch.parallel_extent);
    launch.scratch_bytes = evaluate(step.launch.scratch_bytes);
    const std::int64_t work = std::max<std::int64_t>(1, evaluate(step.launch.work_per_iteration));
    launch.grain = std::max<std::int64_t>(1, kGrainOperations / work);
  }
  instance->symbol_values = std::move(symbol_values);
  return instance;
}

Result<std::vector<HostTensor>> Program::run(std::span<const HostTensor> inputs,
                                             RunCounters& counters) {
  std::vector<std::int64_t> wanted = symbol_values(inputs);
  std::unique_ptr<Instance> instance;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = idle_.size(); i-- > 0;) {
      if (idle_[i]->symbol_values != wanted) continue;
      instance = std::move(idle_[i]);
      idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  if (instance == nullptr) {
    auto made = make_instance(std::move(wanted));
    if (!made.ok()) return made.refusal();
    instance = std::move(made).value();
  }
  Result<std::vector<HostTensor>> outputs = run_instance(*instance, inputs, counters);
  const std::lock_guard lock(mutex_);
  if (idle_.size() >= kIdleInstances) idle_.erase(idle_.begin());
  idle_.push_back(std::move(instance));
  return outputs;
}

Result<std::vector<HostTensor>> Program::run_instance(Instance& instance,
                                                      std::span<const HostTensor> inputs,
                                                      RunCounters& counters) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    instance.values[slot(graph_.inputs()[i])] = inputs[i];
  }
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    if (step.kind == GroupKind::kFused) {
      if (launch(instance, s, counters) != static_cast<std::int32_t>(KernelStatus::kDone)) {
        return Refusal{"index_out_of_range", "a gather's row number is outside its table"};
      }
    } else {
      instance.operands.clear();
      for (const ValueId operand : step.operands) {
        instance.operands.push_back(instance.values[slot(operand)]);
      }
      auto results = instance.calls[s]->run(instance.operands, instance.symbol_values);
      instance.operands.clear();
      if (!results.ok()) return results.refusal();
      if (step.kind == GroupKind::kExtern) ++counters.extern_calls;
      for (std::size_t i = 0; i < step.outputs.size(); ++i) {
        instance.values[slot(step.outputs[i])] = std::move(results.value()[i]);
      }
    }
    for (const ValueId dead : instance.dies[s]) instance.values[slot(dead)] = {};
  }
  std::vector<HostTensor> outputs;
  for (const ValueId output : graph_.outputs()) outputs.push_back(instance.values[slot(output)]);
  for (std::size_t v = 0; v < instance.values.size(); ++v) {
    const bool stays = fixed_[v].data != nullptr || instance.plan.offset[v] >= 0;
    if (!stays) instance.values[v] = {};
  }
  return outputs;
}

std::int32_t Program::launch(Instance& instance, std::size_t index, RunCounters& counters) const {
  const Step& step = steps_[index];
  Instance::Launch& launch = instance.launches[index];
  std::vector<HostTensor> copies;  // Dense stand-ins of strided inputs, alive during the launch.
  for (std::size_t i = 0; i < step.launch.inputs.size(); ++i) {
    const HostTensor& value = instance.values[slot(step.launch.inputs[i])];
    if (value.is_contiguous()) {
      launch.in[i] = value.data;
      continue;
    }
    copies.push_back(dense_copy(value));
    launch.in[i] = copies.back().data;
    ++counters.dense_copies;
  }
  for (std::size_t i = 0; i < step.launch.outputs.size(); ++i) {
    const ValueId output = step.launch.outputs[i];
    HostTensor& value = instance.values[slot(output)];
    if (instance.plan.offset[slot(output)] == MemoryPlan::kNotInArena) {
      value = launch.fresh[i];
      value.storage = aligned_bytes(value.byte_count());
      value.data = value.storage.get();
    }
    launch.out[i] = value.data;
  }
  ++counters.kernel_launches;
  const KernelEntry entry = step.kernel->entry();
  if (launch.extent <= launch.grain) {
    return call_kernel(entry, launch.in.data(), launch.out.data(), launch.sizes.data(), 0,
                       launch.extent, launch.scratch_bytes);
  }
  std::atomic<std::int32_t> status = 0;
  parallel_.run(launch.extent, launch.grain, [&](std::int64_t begin, std::int64_t end) {
    status |= call_kernel(entry, launch.in.data(), launch.out.data(), launch.sizes.data(), begin,
                          end, launch.scratch_bytes);
  });
  return status;
}

}  // namespace breakeven
