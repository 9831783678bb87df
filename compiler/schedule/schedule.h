#pragma once

#include <string>
#include <vector>

#include "compiler/fuse/fusion.h"
#include "compiler/ir/graph.h"

namespace breakeven {

/// How a full value that a later pass reads again gets there.
enum class Keep : std::uint8_t {
  kOnePass,    ///< Read in the pass that computes it alone, or one value a row.
  kRecompute,  ///< Computed again: cheaper than a trip through memory.
  kBuffer,     ///< Kept in a row buffer.
  kReload,     ///< Read back from the output that it was stored to.
};

/// Loop nest of a fused group: a parallel loop over the outer dims, and for each of its steps
/// passes over the row. A pass ends where its reductions are needed; what is computed once a row
/// stands between passes.
struct Schedule {
  FusedBody body;    ///< The group's, with adjacent dims merged wherever every access allows it.
  int row_dims = 0;  ///< The last dims of body.space, walked by the passes.
  /// The row is the parallel loop itself: one dim, no reduction.
  bool row_is_parallel = false;
  int passes = 0;
  std::vector<bool> full;  ///< By member: one value an element of the row, else one a row.
  std::vector<int> pass;   ///< By member: full: the pass that computes it; else before which pass.
  std::vector<Keep> keep;  ///< By member.
  std::vector<int> buffers;  ///< Members kept in row buffers, in the order of the scratch memory.
  Sym parallel_extent;       ///< Steps of the parallel loop.
  Sym row_extent;            ///< Elements of a row; 1 when row_is_parallel.
  Sym work_per_iteration;    ///< Estimated scalar operations of one step of the parallel loop.
};

/// Schedules a kFused group. Interns sizes in graph.syms, changes nothing else.
Schedule schedule_group(Graph& graph, const Group& group);

/// The loop nest as text.
std::string print_schedule(const Graph& graph, const Schedule& schedule);

}  // namespace breakeven
