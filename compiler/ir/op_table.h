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

/// The dtype in which a pointwise op computes, from its tensor and scalar operands.
enum class ComputeRule : std::uint8_t {
  kPromote,  ///< PyTorch's promotion of all operands.
  kFloat,    ///< As kPromote, integers and bool become f32 (exp, true division).
  kSelf,     ///< The dtype of the first operand, whatever the scalars are.
  kWhere,    ///< The first operand is a bool condition; the others promote.
  kConvert,  ///< A conversion: computes nothing, input and output dtype differ.
};

/// Output types of an op from its arguments. Returns a refusal when the arguments do not fit; with
/// code "undecidable_shape" when symbolic sizes leave it open.
using TypeRule = Result<std::vector<TensorType>> (*)(Graph& graph, const std::vector<Arg>& args);

/// Scalar semantics in fp64 for the reference interpreter: x[i] is the i-th tensor/scalar operand
/// in the order of `operands`.
using ReferenceFn = double (*)(std::span<const double> x);

/// One row an op: everything that any stage needs to know about it.
///
/// C expressions. {0}, {1}.. stand for the operands, already in the compute dtype; text put in
/// their place must be a name or parenthesised and free of effects, since it may be repeated. Plain
/// C literals in an expression are small integers, exact in every type. Calls are written without
/// the type suffix; codegen appends _f32 or _f64 (be_exp -> be_exp_f32), or the integer type's name
/// in int_expr (be_floor_div -> be_floor_div_i64). The prelude has to provide:
///   be_exp be_log be_log1p be_expm1 be_sqrt be_rsqrt be_sin be_cos be_tanh be_erf
///   be_floor be_ceil be_rint be_trunc be_fabs be_pow
///   be_fmin_nan be_fmax_nan   NaN when either operand is NaN
///   be_fmod            C's fmod: sign of the dividend
///   be_remainder       Python's %: sign of the divisor
///   be_floor_div       Python's //: by the remainder, not floor(a / b); a / b when b is 0
///   be_select(c, a, b) c ? a : b
/// Integer arithmetic wraps in the operand's own type. 16-bit floats compute in f32 and round to
/// their type after every op. A comparison or predicate has a bool output and its operands' compute
/// dtype.
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
  double tolerance_ulp =
      0;  ///< Allowed error of one application against fp64, in ulps of the type.
  bool pure = true;
  /// For integer and bool compute types, where it differs from c_expr.
  std::string_view int_expr = {};
  ComputeRule compute = ComputeRule::kPromote;
  /// Scalar operands are rounded to a 16-bit compute type first, as eager does for this op.
  bool rounds_scalars = false;
  /// Integers: a zero in the last operand is an error that a kernel cannot raise (see class_of).
  bool int_division = false;
  /// Values of the last operands when they are left out, for the reference of composite ops.
  std::vector<double> defaults = {};
};

/// The row of "aten.add.Tensor", nullptr when the table has none (the op is then extern, unknown).
const OpRow* find_op(std::string_view name);
std::span<const OpRow> op_table();

/// How this node is treated: the row's class, but kExtern for ops without a row and for the few
/// arguments that generated code cannot serve (integer division by a tensor or by zero, which must
/// raise an error; a dtype that is not f32, f64, f16, bf16, an integer or bool). kOp nodes only.
OpClass class_of(const Graph& graph, const Node& node);

/// The dtype in which a kPointwise node computes; its tensor operands have it after the passes.
DType compute_dtype(const Graph& graph, const Node& node);

/// Adds an op, its output types computed by the table's rule. Returns its outputs.
Result<std::vector<ValueId>> add_checked(Graph& graph, std::string op, std::vector<Arg> args,
                                         std::string name = {});

}  // namespace breakeven
