#pragma once

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace breakeven {

/// A generated kernel and how to launch it: everything the runtime needs to know of a fused group.
struct KernelSource {
  std::string text;              ///< Whole translation unit; no names of layers or values in it.
  std::string entry;             ///< Symbol of the KernelEntry in it.
  std::vector<ValueId> inputs;   ///< Of in[]: dense row-major values.
  std::vector<ValueId> outputs;  ///< Of out[]: dense row-major values, allocated by the caller.
  std::vector<Sym> sizes;  ///< Of sym[]: evaluated at launch. Empty when every size is a literal.
  Sym parallel_extent;     ///< The launch covers [0, parallel_extent) in disjoint ranges.
  Sym work_per_iteration;  ///< Estimated scalar operations of one step of that range.
  Sym scratch_bytes;       ///< Per concurrent range, 64-byte aligned; 0: none.
};

}  // namespace breakeven
