#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/fuse/fusion.h"
#include "compiler/runtime/compiled_model.h"
#include "compiler/runtime/kernel_cache.h"
#include "compiler/runtime/packed_weights.h"
#include "compiler/runtime/program.h"
#include "compiler/runtime/specialization.h"

namespace breakeven {

/// A graph between import and kernels: what every stage of `explain` prints from.
struct LoweredGraph {
  Graph graph;
  FusionPlan plan;
  std::vector<Step> steps;  ///< Kernels not yet compiled.
};

/// Measures stretches of one compile; closes with the time that no stage covers.
class StageTimer {
 public:
  StageTimer();
  /// Ends the stretch since the last call (or the start) as `name`.
  void end(std::string name);
  /// All stages, "unattributed" last; they sum to `total`.
  std::vector<Stage> stages(Nanos total) const;

 private:
  Nanos last_;
  std::vector<Stage> stages_;
};

/// Passes, fusion, schedule and emission. `leave_product` as FusionOptions has it.
LoweredGraph lower(const Graph& graph, const CompileOptions& options, const CpuTarget& target,
                   const LeaveProduct& leave_product, const Specialization& specialization,
                   StageTimer& timer);
/// Every node a library call, in graph order: the eager fallback.
LoweredGraph lower_eagerly(const Graph& graph);

/// Finds or compiles the kernels of `steps` on up to `threads` threads and counts outcomes in
/// `event`. Refuses with the first kernel's refusal.
Result<bool> compile_kernels(std::vector<Step>& steps, KernelCache& cache, int threads,
                             CompileEvent& event);

/// Gives every product step its packed weight; counts the bytes that were packed now in `event`.
void pack_weights(const Graph& graph, const WeightMap& weights, std::vector<Step>& steps,
                  PackedWeights& packed, ParallelFor& parallel, CompileEvent& event);

}  // namespace breakeven
