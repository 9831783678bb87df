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

/// The vector registers that a product's tile is cut for.
struct VectorUnit {
  int floats = 8;      ///< f32 lanes of one.
  int registers = 16;  ///< How many there are.
  bool fused_multiply_add = true;
};

/// Loop nest of a group with a matrix product. The weight is packed in panels of `lanes` columns; a
/// step of the parallel loop computes one panel for a block of rows. Within it, for each block of
/// the depth, tiles of up to `tile_rows` rows keep their sums in registers and add them to the
/// block's sums; then the group's other members run over these, a row at a time. The order in which
/// a sum is added up depends on the number of rows alone.
struct ProductNest {
  int lanes = 16;
  int vectors = 2;  ///< `lanes` in registers.
  int tile_rows = 6;
  int depth_block = 512;
  int row_block = 96;
  Sym rows;  ///< Of the whole product.
  std::int64_t panels = 0;
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
  std::optional<ProductNest> product;  ///< Takes the place of the passes.
};

/// Schedules a kFused group. Interns sizes in graph.syms, changes nothing else.
Schedule schedule_group(Graph& graph, const Group& group, const VectorUnit& unit = {});

/// The tile of a product on `unit`; the width of its panels is the layout of packed weights.
ProductNest product_tile(const VectorUnit& unit);

/// The loop nest as text.
std::string print_schedule(const Graph& graph, const Schedule& schedule);

}  // namespace breakeven
