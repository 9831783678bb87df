#include "compiler/runtime/compile.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "compiler/codegen/emit.h"
#include "compiler/passes/passes.h"
#include "compiler/schedule/schedule.h"

namespace breakeven {

StageTimer::StageTimer() : last_(now_ns()) {}

void StageTimer::end(std::string name) {
  const Nanos now = now_ns();
  stages_.push_back({std::move(name), now - last_});
  last_ = now;
}

std::vector<Stage> StageTimer::stages(Nanos total) const {
  std::vector<Stage> all = stages_;
  Nanos covered = 0;
  for (const Stage& stage : all) covered += stage.duration;
  all.push_back({"unattributed", total - covered});
  return all;
}

namespace {

Step library_step(const Graph& graph, const Group& group, int node) {
  const Node& call = graph.nodes()[static_cast<std::size_t>(node)];
  Step step;
  step.kind = group.kind;
  step.node = node;
  step.operands = operands_of(call);
  step.outputs = call.outputs;
  return step;
}

}  // namespace

LoweredGraph lower(const Graph& graph, const CompileOptions& options, const CpuTarget& target,
                   const LeaveProduct& leave_product, const Specialization& specialization,
                   StageTimer& timer) {
  const VectorUnit unit = vector_unit(target);
  LoweredGraph lowered;
  lowered.graph = run_pipeline(specialization.apply(graph));
  timer.end("passes");
  FusionOptions fusion;
  fusion.fuse = options.fuse;
  fusion.leave_product = leave_product;
  // Asked ahead of fusion, so that what measuring takes is a stage of its own.
  for (const Node& node : lowered.graph.nodes()) {
    if (!options.fuse || !is_product(node)) continue;
    if (const auto product = product_of(lowered.graph, node); product.ok()) {
      leave_product(lowered.graph, product.value());
    }
  }
  timer.end("choose");
  lowered.plan = fuse(lowered.graph, fusion);
  timer.end("fuse");
  std::vector<Schedule> schedules;
  for (const Group& group : lowered.plan.groups) {
    schedules.push_back(group.kind == GroupKind::kFused ? schedule_group(lowered.graph, group, unit)
                                                        : Schedule{});
  }
  timer.end("schedule");
  std::shared_ptr<const KernelUnit> multiply;
  for (std::size_t g = 0; g < lowered.plan.groups.size(); ++g) {
    const Group& group = lowered.plan.groups[g];
    if (group.kind != GroupKind::kFused) {
      for (const int node : group.nodes) {
        lowered.steps.push_back(library_step(lowered.graph, group, node));
      }
      continue;
    }
    Step step;
    step.kind = GroupKind::kFused;
    step.launch = emit_kernel(lowered.graph, schedules[g]);
    if (schedules[g].product.has_value()) {
      // One for all: tiles are cut for the processor alone.
      if (multiply == nullptr) {
        multiply = std::make_shared<const KernelUnit>(emit_multiply(*schedules[g].product));
      }
      step.launch.multiply = multiply;
    }
    step.operands = step.launch.inputs;
    step.outputs = step.launch.outputs;
    lowered.steps.push_back(std::move(step));
  }
  timer.end("emit");
  return lowered;
}

LoweredGraph lower_eagerly(const Graph& graph) {
  LoweredGraph lowered;
  lowered.graph = graph;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    if (graph.nodes()[n].kind != NodeKind::kOp) continue;
    Group group;
    group.nodes = {static_cast<int>(n)};
    lowered.steps.push_back(library_step(graph, group, static_cast<int>(n)));
    lowered.plan.groups.push_back(std::move(group));
  }
  return lowered;
}

Result<bool> compile_kernels(std::vector<Step>& steps, KernelCache& cache, int threads,
                             CompileEvent& event) {
  // Layers share kernels by text: each distinct one is asked for once.
  std::map<KernelUnit, std::optional<Result<CachedKernel>>> kernels;
  for (const Step& step : steps) {
    if (step.kind != GroupKind::kFused) continue;
    kernels[step.launch.unit];
    if (step.launch.multiply != nullptr) kernels[*step.launch.multiply];
  }
  std::vector<decltype(kernels)::value_type*> queue;
  for (auto& kernel : kernels) queue.push_back(&kernel);
  // Text is a fair measure of the time to compile it: the longest first, so that none is left last.
  std::stable_sort(queue.begin(), queue.end(), [](const auto* a, const auto* b) {
    return a->first.text.size() > b->first.text.size();
  });
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < queue.size(); i = next++) {
      queue[i]->second = cache.get(queue[i]->first.text, queue[i]->first.entry);
    }
  };
  const std::size_t workers = std::min<std::size_t>(
      queue.size(), threads > 0 ? static_cast<std::size_t>(threads)
                                : std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> pool;
  for (std::size_t i = 1; i < workers; ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  for (const auto& [source, outcome] : kernels) {
    if (!outcome->ok()) return outcome->refusal();
    const CachedKernel& kernel = outcome->value();
    switch (kernel.outcome) {
      case CacheOutcome::kCompiled:
        ++event.compiled;
        event.misses.push_back(source.entry + ": " + kernel.miss);
        break;
      case CacheOutcome::kMemory:
        ++event.from_memory;
        break;
      case CacheOutcome::kDisk:
        ++event.from_disk;
        break;
    }
  }
  event.kernels = static_cast<int>(kernels.size());
  for (Step& step : steps) {
    if (step.kind != GroupKind::kFused) continue;
    step.kernel = kernels.at(step.launch.unit)->value().kernel;
    if (step.launch.multiply != nullptr) {
      step.multiply = kernels.at(*step.launch.multiply)->value().kernel;
    }
  }
  return true;
}

void pack_weights(const Graph& graph, const WeightMap& weights, std::vector<Step>& steps,
                  PackedWeights& packed, ParallelFor& parallel, CompileEvent& event) {
  const std::int64_t before = packed.bytes_made();
  for (Step& step : steps) {
    if (!step.launch.weight.has_value()) continue;
    const Node& node = graph.node_of(step.launch.weight->value);
    const HostTensor& tensor =
        node.kind == NodeKind::kConstant ? node.literal : weights.at(node.name);
    step.panels = packed.get(tensor, *step.launch.weight, step.launch.panel_lanes, parallel);
  }
  event.packed_bytes = packed.bytes_made() - before;
}

}  // namespace breakeven
