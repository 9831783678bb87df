#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/result.h"

namespace breakeven {

/// How the compiler treats an op.
enum class OpClass : std::uint8_t {
  kPointwise,  ///< Element i of the output needs element i (broadcast) of each tensor operand.
  kReduction,  ///< Folds dims of operand "self" with `combine`.
  kView,       ///< Re-indexes operand "self"; moves no data.
  kGather,     ///< Copies rows picked by an index tensor (embedding, index_select).
  kJoin,       ///< Copies its operands side by side (cat, stack).
  kCreation,   ///< No tensor operand: full, arange, zeros.
  kComposite,  ///< The decompose pass rewrites it into ops of the classes above.
  kExtern,     ///< Known (type rule, purity), but left to the vendor's library through ATen.
};

/// The fold of a kReduction.
enum class Combine : std::uint8_t { kNone, kSum, kProd, kMax, kMin, kAny, kAll };

/// Output types of an op from its arguments. Returns a refusal when the arguments do not fit.
using TypeRule = Result<std::vector<TensorType>> (*)(Graph& graph, const std::vector<Arg>& args);

/// Scalar semantics in fp64 for the reference interpreter: x[i] is the i-th tensor/scalar operand in
/// the order of `operands`.
using ReferenceFn = double (*)(std::span<const double> x);

/// One row an op: everything that any stage needs to know about it.
struct OpRow {
  std::string_view name;  ///< "aten.add.Tensor".
  OpClass op_class;
  TypeRule type_rule;
  /// Names of the arguments that feed the expression, in order: {0}, {1} in the expressions below.
  std::vector<std::string_view> operands = {};
  /// C expression over {0}, {1}.. in the compute type; helper functions be_* come from the prelude.
  /// Empty for classes that need none.
  std::string_view c_expr = {};
  std::string_view cuda_expr = {};  ///< Empty: same as c_expr.
  ReferenceFn reference = nullptr;
  Combine combine = Combine::kNone;
  double tolerance_ulp = 0;  ///< Allowed error of one application against fp64, in ulps of the type.
  bool pure = true;
};

/// The row of "aten.add.Tensor", nullptr when the table has none (the op is then extern, unknown).
const OpRow* find_op(std::string_view name);
std::span<const OpRow> op_table();

/// Adds an op, its output types computed by the table's rule. Returns its outputs.
Result<std::vector<ValueId>> add_checked(Graph& graph, std::string op, std::vector<Arg> args,
                                         std::string name = {});

}  // namespace breakeven
