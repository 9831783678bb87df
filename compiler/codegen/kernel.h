#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/fuse/fusion.h"
#include "compiler/ir/graph.h"

namespace breakeven {

/// A translation unit and the symbol in it that is called.
struct KernelUnit {
  std::string text;
  std::string entry;
  friend auto operator<=>(const KernelUnit&, const KernelUnit&) = default;
};

/// A generated kernel and how to launch it: everything the runtime needs to know of a fused group.
struct KernelSource {
  KernelUnit unit;              ///< Its KernelEntry; no names of layers or values in the text.
  std::vector<ValueId> inputs;  ///< Of in[]: dense row-major values.
  /// Its packed panels follow the inputs in in[], and then the address of `multiply`'s entry.
  std::optional<ProductWeight> weight;
  std::shared_ptr<const KernelUnit> multiply;  ///< Of kernels with a weight, else null.
  int panel_lanes = 0;                         ///< Columns of a panel of `weight`.
  std::vector<ValueId> outputs;  ///< Of out[]: dense row-major values, allocated by the caller.
  std::vector<Sym> sizes;  ///< Of sym[]: evaluated at launch. Empty when every size is a literal.
  Sym parallel_extent;     ///< The launch covers [0, parallel_extent) in disjoint ranges.
  Sym work_per_iteration;  ///< Estimated scalar operations of one step of that range.
  Sym scratch_bytes;       ///< Per concurrent range, 64-byte aligned; 0: none.
};

}  // namespace breakeven
