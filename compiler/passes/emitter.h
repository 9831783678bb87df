#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/passes/rewriter.h"

namespace breakeven {

/// Writes the parts of one composite op: pointwise ops whose operands get explicit conversions to
/// the compute dtype, and reductions that keep their dims.
class Emitter {
 public:
  /// Parts are named after the node: "norm.mean".
  Emitter(Rewriter& rewriter, const Node& node) : r_(rewriter), node_(node) {}

  Rewriter& rewriter() { return r_; }

  /// Any op of the table; part "" takes the node's own name.
  ValueId op(std::string op, std::vector<Arg> args, std::string_view part);
  ValueId unary(std::string_view name, ValueId x, std::string_view part);
  /// "add", "sub", "mul" or "div"; a tensor or a scalar on the right.
  ValueId binary(std::string_view name, ValueId x, const ArgValue& y, std::string_view part);
  /// "sum", "amax" or "amin" over `dims`, kept with size 1.
  ValueId reduce(std::string_view name, ValueId x, const std::vector<std::int64_t>& dims,
                 std::string_view part);
  /// Sum over count.
  ValueId mean(ValueId x, const std::vector<std::int64_t>& dims, std::string_view part);
  ValueId where(ValueId condition, const ArgValue& x, const ArgValue& y, std::string_view part);
  /// The value in f32 when it is a 16-bit float, as eager accumulates; else itself.
  ValueId widened(ValueId x);
  /// Converts to the dtype and sizes declared for output `i` and makes the result stand for it.
  void finish(ValueId result, std::size_t i = 0);

 private:
  std::string named(std::string_view part) const;

  Rewriter& r_;
  const Node& node_;
};

/// Inserts the conversions that a pointwise op, a reduction or a join needs, and appends it.
/// `like` gives the recorded type and name; without it the type rule decides.
ValueId add_converted(Rewriter& rewriter, std::string op, std::vector<Arg> args,
                      const Node* like = nullptr, std::string name = {});

/// decompose's rewrites by file; false when the op is not theirs.
bool decompose_activation(Rewriter& rewriter, const Node& node);
bool decompose_norm(Rewriter& rewriter, const Node& node);

}  // namespace breakeven
