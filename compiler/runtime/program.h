#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "compiler/codegen/kernel.h"
#include "compiler/fuse/fusion.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/reference.h"
#include "compiler/runtime/extern_backend.h"
#include "compiler/runtime/kernel_cache.h"
#include "compiler/support/parallel.h"

namespace breakeven {

class ProgramInstance;

/// One unit of a program, in running order.
struct Step {
  GroupKind kind = GroupKind::kExtern;
  KernelSource launch;                     ///< Of kFused.
  std::shared_ptr<LoadedKernel> kernel;    ///< Of kFused.
  std::shared_ptr<LoadedKernel> multiply;  ///< Of launch.multiply.
  std::shared_ptr<const float> panels;     ///< Packed copy of launch.weight.
  int node = -1;                           ///< Of kExtern and kView.
  std::vector<ValueId> operands;
  std::vector<ValueId> outputs;
};

/// What running costs in counts, for all programs of a model.
struct RunCounters {
  std::atomic<std::int64_t> kernel_launches = 0;
  std::atomic<std::int64_t> extern_calls = 0;
  std::atomic<std::int64_t> dense_copies = 0;  ///< Strided values copied for a kernel.
};

/// A compiled graph: kernels and library calls in order. Immutable; what a run needs of its own
/// (buffers, bound library calls) is an instance, one per symbol values and concurrent caller.
class Program {
 public:
  /// `graph` as fused, with `weights` for its kWeight nodes; `backend` and `parallel` outlive it.
  Program(Graph graph, std::vector<Step> steps, const WeightMap& weights, ExternBackend& backend,
          ParallelFor& parallel);
  ~Program();

  /// Runs one request whose inputs fit the graph; what `outputs` held before goes first, so that
  /// its memory can serve again (`inputs` must lie elsewhere). Refuses what a library call refuses.
  Result<bool> run(std::span<const HostTensor> inputs, std::vector<HostTensor>& outputs,
                   RunCounters& counters);

  const Graph& graph() const { return graph_; }
  int kernel_count() const;
  int extern_count() const;
  /// Bytes of the arena for these symbol values.
  std::int64_t arena_bytes(std::span<const std::int64_t> symbol_values) const;

 private:
  /// The idle instance for the sizes of `inputs`; null when there is none.
  std::unique_ptr<ProgramInstance> take_idle(std::span<const HostTensor> inputs);
  std::int64_t symbol_value(std::size_t symbol, std::span<const HostTensor> inputs) const;

  Graph graph_;
  std::vector<Step> steps_;
  std::vector<HostTensor> fixed_;  ///< By value: weights and constants; others empty.
  std::vector<std::pair<int, int>>
      symbol_sources_;  ///< (input, dim) that each symbol is read from.
  ExternBackend& backend_;
  ParallelFor& parallel_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ProgramInstance>> idle_;  ///< Most recently used last.
};

}  // namespace breakeven
