#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/host_tensor.h"
#include "compiler/support/result.h"

namespace breakeven {

/// One op left to a library, its constant arguments bound. Thread-compatible: one caller at a time.
class ExternOp {
 public:
  virtual ~ExternOp() = default;
  /// `operands` in the order of operands_of(node); `symbol_values` as in bind_symbols. Fills
  /// `outputs` (one per node output) with tensors that own their storage or alias an operand's.
  /// Returns a refusal when the library throws.
  virtual Result<bool> run(std::span<const HostTensor* const> operands,
                           std::span<const std::int64_t> symbol_values,
                           std::span<HostTensor* const> outputs) = 0;
};

/// The library behind kExtern ops and unknown ones: ATen's dispatcher, or the reference interpreter
/// where LibTorch is not built in.
class ExternBackend {
 public:
  virtual ~ExternBackend() = default;
  /// Refuses an op that the library does not have, naming what would bring it.
  virtual Result<std::unique_ptr<ExternOp>> bind(const Graph& graph, const Node& node) = 0;
};

/// Runs each op through interpret_reference.
std::unique_ptr<ExternBackend> make_reference_backend();

}  // namespace breakeven
