#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/runtime/specialization.h"

namespace breakeven {

enum class GuardKind : std::uint8_t {
  kRank,       ///< input.rank == lo
  kDType,      ///< input.dtype == dtype
  kSize,       ///< input.size[dim] == lo
  kSizeRange,  ///< lo <= input.size[dim] <= hi
  kSameSize,   ///< input.size[dim] == other_input.size[other_dim]
};

/// One condition under which a program may serve a request.
struct Guard {
  GuardKind kind = GuardKind::kRank;
  DType dtype = DType::kF32;
  std::int16_t dim = 0;
  std::int16_t other_dim = 0;
  std::int32_t input = 0;
  std::int32_t other_input = 0;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
};

/// A program's guards: a flat array, and beside it who wanted each and why.
struct Guards {
  std::vector<Guard> checks;
  std::vector<std::string> origins;  ///< "specialize (policy static): length = 13".

  void add(const Guard& guard, std::string origin);
  /// Index of the first guard that `inputs` break. `inputs` has the graph's input count.
  std::optional<std::size_t> first_failure(std::span<const HostTensor> inputs) const;
  bool hold(std::span<const HostTensor> inputs) const { return !first_failure(inputs); }
};

/// The guards of a program made from `graph` (as imported) that way.
/// Sizes of inputs that nothing reads are not guarded: they cannot change the program.
Guards make_guards(const Graph& graph, const Specialization& specialization);

/// "input_ids.size[1] == 13".
std::string to_string(const Graph& graph, const Guard& guard);
/// "input_ids.size[1] == 13, got 17".
std::string describe_failure(const Graph& graph, const Guard& guard,
                             std::span<const HostTensor> inputs);

}  // namespace breakeven
