#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/runtime/compiled_model.h"

namespace breakeven {

enum class GuardKind : std::uint8_t {
  kRank,       ///< input.rank == lo
  kDType,      ///< input.dtype == dtype
  kSize,       ///< input.size[dim] == lo
  kSizeRange,  ///< lo <= input.size[dim] <= hi
  kSameSize,   ///< input.size[dim] == other_input.size[other_dim]
};

/// One condition under which a program may serve a request. A program's guards are a flat array.
struct Guard {
  GuardKind kind = GuardKind::kRank;
  int input = 0;
  int dim = 0;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  int other_input = 0;
  int other_dim = 0;
  DType dtype = DType::kF32;
  std::string origin;  ///< Who wanted it and why: "specialize (policy static): length = 13".
};

/// The guards of a program made from `graph` (as imported) under `policy` for `symbol_values`.
/// Sizes of inputs that nothing reads are not guarded: they cannot change the program.
std::vector<Guard> make_guards(const Graph& graph, ShapePolicy policy,
                               std::span<const std::int64_t> symbol_values);

/// The first guard that `inputs` break; nullptr when all hold. `inputs` has the graph's input
/// count.
const Guard* first_failure(std::span<const Guard> guards, std::span<const HostTensor> inputs);

/// "input_ids.size[1] == 13".
std::string to_string(const Graph& graph, const Guard& guard);
/// "input_ids.size[1] == 13, got 17".
std::string describe_failure(const Graph& graph, const Guard& guard,
                             std::span<const HostTensor> inputs);

}  // namespace breakeven
