#pragma once

#include <string>
#include <vector>

#include "compiler/fuse/fusion.h"

namespace breakeven {

/// One loop. `var` names its variable in the members' offsets.
struct LoopDim {
  int var = 0;
  Sym extent;
};

/// One sweep over the row. Indices are of members unless said otherwise.
struct RowPass {
  std::vector<int> before;      ///< Row-valued members computed ahead of the sweep.
  std::vector<int> evaluate;    ///< Full members computed for every element.
  std::vector<int> reload;      ///< Full members read back from their row buffer.
  std::vector<int> keep;        ///< Full members written to their row buffer.
  std::vector<int> reductions;  ///< kReduce members that the sweep closes.
  std::vector<int> stores;      ///< Indices of outputs written in the sweep.
};

/// Loop nest of one fused group: a parallel loop over the collapsed outer dims; inside, sweeps over
/// the row. Each sweep closes reductions that later sweeps use.
struct KernelSchedule {
  FusedBody body;              ///< Offsets in terms of the loops' variables; levels marked.
  std::vector<LoopDim> outer;  ///< Collapsed into one parallel range.
  std::vector<LoopDim> row;    ///< The last is the vector loop. Empty: everything is row-valued.
  bool flat = false;           ///< The parallel range is the vector loop itself (`outer` is empty).
  std::vector<RowPass> passes;
  std::vector<int> after;            ///< Row-valued members computed after the last sweep.
  std::vector<int> row_stores;       ///< Indices of outputs written once a row.
  std::vector<int> buffers;          ///< Members with a row buffer, in slot order.
  Sym parallel_extent;               ///< Iterations of the parallel range.
  Sym row_extent;                    ///< Elements of a row.
  std::int64_t ops_per_element = 0;  ///< For the grain.
  bool needs_elements = false;       ///< A max or min: an empty row is an error that eager raises.
};

/// Chooses the loop nest. Deterministic: the same body gives the same schedule.
KernelSchedule schedule(SymContext& syms, FusedBody body);

/// Iterations of the parallel range that one chunk should have at least.
std::int64_t parallel_grain(const KernelSchedule& schedule, std::int64_t row_elements);

std::string print_schedule(const Graph& graph, const KernelSchedule& schedule);

}  // namespace breakeven
