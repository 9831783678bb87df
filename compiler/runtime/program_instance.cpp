#include "compiler/runtime/program_instance.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "compiler/codegen/emit.h"
#include "compiler/runtime/dense_copy.h"

namespace breakeven {
namespace {

/// Scalar operations that one worker should get at least: below it, waking another costs more.
constexpr std::int64_t kGrainOperations = 64 * 1024;
/// Scratch up to this size lives on the stack of the worker.
constexpr std::int64_t kStackScratch = 32 * 1024;

std::size_t slot(ValueId id) { return static_cast<std::size_t>(id.index); }

std::shared_ptr<void> aligned_bytes(std::int64_t bytes) {
  constexpr std::size_t kAlignment = 64;
  const std::size_t rounded =
      (static_cast<std::size_t>(bytes) + kAlignment - 1) & ~(kAlignment - 1);
  void* memory = std::aligned_alloc(kAlignment, std::max(rounded, kAlignment));
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, [](void* owned) { std::free(owned); }};
}

/// Memory for an answer: the last run's again when its receiver has let go of it.
void renew(HostTensor& answer) {
  if (answer.storage.use_count() == 1) {
    // Only dropping a reference orders this run's writes after the receiver's last reads.
    const std::shared_ptr<void> ordered = answer.storage;
    return;
  }
  answer.storage = aligned_bytes(answer.byte_count());
  answer.data = answer.storage.get();
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

ProgramInstance::ProgramInstance(const Graph& graph, const std::vector<HostTensor>& fixed,
                                 std::vector<std::int64_t> symbol_values, ParallelFor& parallel)
    : graph_(graph),
      symbol_values_(std::move(symbol_values)),
      parallel_(parallel),
      values_(fixed),
      stays_(fixed.size(), false) {
  for (const HostTensor& value : values_) tensor_.push_back(&value);
  for (std::size_t v = 0; v < fixed.size(); ++v) stays_[v] = fixed[v].data != nullptr;
}

Result<std::unique_ptr<ProgramInstance>> ProgramInstance::make(
    const Graph& graph, std::span<const Step> steps, const std::vector<HostTensor>& fixed,
    std::vector<std::int64_t> symbol_values, ExternBackend& backend, ParallelFor& parallel) {
  std::unique_ptr<ProgramInstance> instance(
      new ProgramInstance(graph, fixed, std::move(symbol_values), parallel));
  const MemoryPlan plan = plan_memory(graph, steps, instance->symbol_values_);
  instance->place_values(steps, plan);
  std::vector<std::size_t> operation(steps.size());  // By step: the last one up to its end.
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].kind == GroupKind::kFused) {
      instance->operations_.push_back({instance->make_launch(steps[s]), {}});
      ++instance->launches_;
    } else if (auto added = instance->add_call(steps[s], backend); !added.ok()) {
      return added.refusal();
    }
    operation[s] = instance->operations_.size() - 1;
  }
  for (const std::size_t value : instance->transient_) {
    const int last = plan.last_use[value];
    const auto& answers = graph.outputs();
    const bool is_answer = std::any_of(answers.begin(), answers.end(),
                                       [&](ValueId answer) { return slot(answer) == value; });
    if (last < 0 || is_answer) continue;
    instance->operations_[operation[static_cast<std::size_t>(last)]].dies.push_back(value);
  }
  return instance;
}

/// Gives every kernel output its type and layout, and memory too when it stays inside.
void ProgramInstance::place_values(std::span<const Step> steps, const MemoryPlan& plan) {
  arena_ = aligned_bytes(plan.arena_bytes);
  for (const Step& step : steps) {
    if (step.kind != GroupKind::kFused) continue;
    for (const ValueId output : step.outputs) {
      const TensorType& type = graph_.type(output);
      HostTensor& value = values_[slot(output)];
      value.dtype = type.dtype;
      for (const Sym size : type.sizes) value.sizes.push_back(evaluate(size));
      value.strides = contiguous_strides(value.sizes);
      if (plan.offset[slot(output)] == MemoryPlan::kNotInArena) continue;
      value.storage = arena_;
      value.data = static_cast<char*>(arena_.get()) + plan.offset[slot(output)];
      stays_[slot(output)] = true;
    }
  }
}

ProgramInstance::Launch ProgramInstance::make_launch(const Step& step) {
  Launch launch;
  launch.entry = step.kernel->entry();
  for (std::size_t i = 0; i < step.launch.inputs.size(); ++i) {
    const std::size_t value = slot(step.launch.inputs[i]);
    launch.in.push_back(values_[value].data);
    if (!stays_[value] || !values_[value].is_contiguous()) launch.moving_in.push_back({i, value});
  }
  if (step.launch.weight.has_value()) {
    BE_CHECK(step.panels != nullptr, "a weight is not packed");
    launch.in.push_back(step.panels.get());
    launch.in.push_back(reinterpret_cast<const void*>(step.multiply->entry()));
  }
  for (std::size_t i = 0; i < step.launch.outputs.size(); ++i) {
    const std::size_t value = slot(step.launch.outputs[i]);
    launch.out.push_back(values_[value].data);
    if (!stays_[value]) launch.moving_out.push_back({i, value});
  }
  for (const Sym size : step.launch.sizes) launch.sizes.push_back(evaluate(size));
  launch.extent = evaluate(step.launch.parallel_extent);
  launch.scratch_bytes = evaluate(step.launch.scratch_bytes);
  const std::int64_t work = std::max<std::int64_t>(1, evaluate(step.launch.work_per_iteration));
  launch.grain = std::max<std::int64_t>(1, kGrainOperations / work);
  return launch;
}

Result<bool> ProgramInstance::add_call(const Step& step, ExternBackend& backend) {
  auto op = backend.bind(graph_, graph_.nodes()[static_cast<std::size_t>(step.node)]);
  if (!op.ok()) return op.refusal();
  Call made;
  made.op = std::move(op).value();
  made.counts = step.kind == GroupKind::kExtern;
  bool may_stay = step.kind == GroupKind::kView;
  for (const ValueId operand : step.operands) {
    made.operands.push_back(slot(operand));
    may_stay = may_stay && stays_[slot(operand)];
  }
  for (const ValueId output : step.outputs) made.results.push_back(&values_[slot(output)]);
  // A view of what stays is the same in every run: made here, once.
  if (may_stay && call(made).ok() && stays_a_view(made)) {
    for (const ValueId output : step.outputs) stays_[slot(output)] = true;
    return true;
  }
  for (const ValueId output : step.outputs) transient_.push_back(slot(output));
  calls_ += made.counts ? 1 : 0;
  operations_.push_back({std::move(made), {}});
  return true;
}

/// Whether every result lies in an operand's memory, instead of in a copy.
bool ProgramInstance::stays_a_view(const Call& call) const {
  return std::all_of(call.results.begin(), call.results.end(), [&](const HostTensor* result) {
    return std::any_of(call.operands.begin(), call.operands.end(), [&](std::size_t operand) {
      return result->storage == values_[operand].storage;
    });
  });
}

Result<bool> ProgramInstance::run(std::span<const HostTensor> inputs,
                                  std::vector<HostTensor>& outputs, RunCounters& counters) {
  for (HostTensor& output : outputs) output.storage.reset();  // Room for this run's answers.
  for (std::size_t i = 0; i < inputs.size(); ++i) tensor_[slot(graph_.inputs()[i])] = &inputs[i];
  Result<bool> outcome = true;
  for (Operation& operation : operations_) {
    if (auto* kernel = std::get_if<Launch>(&operation.work)) {
      if (!launch(*kernel, counters)) {
        outcome = Refusal{"index_out_of_range", "a gather's row number is outside its table"};
      }
    } else {
      outcome = call(std::get<Call>(operation.work));
    }
    if (!outcome.ok()) break;
    for (const std::size_t dead : operation.dies) values_[dead].storage.reset();
  }
  if (outcome.ok()) {
    counters.kernel_launches += launches_;
    counters.extern_calls += calls_;
    outputs.resize(graph_.outputs().size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      outputs[i] = *tensor_[slot(graph_.outputs()[i])];
    }
  }
  for (const std::size_t value : transient_) values_[value].storage.reset();
  return outcome;
}

Result<bool> ProgramInstance::call(Call& call) {
  operands_.clear();
  for (const std::size_t operand : call.operands) operands_.push_back(tensor_[operand]);
  return call.op->run(operands_, symbol_values_, call.results);
}

/// Whether the kernel could do its work.
bool ProgramInstance::launch(Launch& launch, RunCounters& counters) {
  std::vector<HostTensor> copies;  // Dense stand-ins of strided inputs, alive during the launch.
  for (const Moving& moving : launch.moving_in) {
    const HostTensor& value = *tensor_[moving.value];
    if (value.is_contiguous()) {
      launch.in[moving.argument] = value.data;
      continue;
    }
    copies.push_back(dense_copy(value));
    launch.in[moving.argument] = copies.back().data;
    ++counters.dense_copies;
  }
  for (const Moving& moving : launch.moving_out) {
    renew(values_[moving.value]);
    launch.out[moving.argument] = values_[moving.value].data;
  }
  const auto run = [&launch](std::int64_t begin, std::int64_t end) {
    return call_kernel(launch.entry, launch.in.data(), launch.out.data(), launch.sizes.data(),
                       begin, end, launch.scratch_bytes);
  };
  constexpr auto kDone = static_cast<std::int32_t>(KernelStatus::kDone);
  if (launch.extent <= launch.grain) return run(0, launch.extent) == kDone;
  struct {
    decltype(run)& part;
    std::atomic<std::int32_t> status = kDone;
  } shared{run};
  // One reference fits std::function without memory of its own.
  parallel_.run(launch.extent, launch.grain, [&shared](std::int64_t begin, std::int64_t end) {
    shared.status |= shared.part(begin, end);
  });
  return shared.status == kDone;
}

}  // namespace breakeven
