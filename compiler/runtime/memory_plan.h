#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/runtime/program.h"

namespace breakeven {

/// Where each value lives while a program runs.
struct MemoryPlan {
  static constexpr std::int64_t kNotInArena = -1;
  std::vector<std::int64_t> offset;  ///< By value: bytes into the arena, or kNotInArena.
  std::vector<int> last_use;         ///< By value: last step that may read its memory; -1: none.
  std::int64_t arena_bytes = 0;
};

/// Kernel outputs that stay inside the program share one arena; two that are alive at once never
/// overlap. A value that may be seen after the run (an output, or what an output may alias) is not
/// in it. Library calls that may return a view of an operand prolong that operand's life.
MemoryPlan plan_memory(const Graph& graph, std::span<const Step> steps,
                       std::span<const std::int64_t> symbol_values);

}  // namespace breakeven
