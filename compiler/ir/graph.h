#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "compiler/ir/dtype.h"
#include "compiler/ir/host_tensor.h"
#include "compiler/ir/sym.h"

namespace breakeven {

/// A tensor value: index into Graph::values(). Ascending in topological order.
struct ValueId {
  std::int32_t index = -1;
  bool valid() const { return index >= 0; }
  friend auto operator<=>(ValueId, ValueId) = default;
};

/// dtype and symbolic sizes of a value. Values are logically dense row-major unless a view says
/// otherwise; physical strides of inputs are the guards' business, those of views the scheduler's.
struct TensorType {
  DType dtype = DType::kF32;
  std::vector<Sym> sizes;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Argument of an op, in ATen's terms. Symbolic integers cover plain ones (constants are interned).
/// A missing optional is std::monostate; inside a list of tensors, an invalid ValueId. Scalars keep
/// their kind: bool, Sym (integer) or double.
using ArgValue =
    std::variant<std::monostate, ValueId, std::vector<ValueId>, bool, Sym, double, std::vector<Sym>,
                 std::vector<double>, std::vector<bool>, DType, std::string>;

struct Arg {
  std::string name;  ///< The schema's argument name: "self", "dim", "normalized_shape".
  ArgValue value;
  friend bool operator==(const Arg&, const Arg&) = default;
};

enum class NodeKind : std::uint8_t {
  kInput,     ///< A request's tensor. name = input name.
  kWeight,    ///< A parameter or buffer, bound at load. name = its path in the module.
  kConstant,  ///< A small literal tensor held in the graph (`literal`).
  kOp,        ///< An ATen op. op = "aten.add.Tensor".
};

/// Where a weight's bytes come from when no archive holds them.
struct WeightInit {
  enum class Kind : std::uint8_t { kNone, kNormal, kUniform, kZeros, kOnes };
  Kind kind = Kind::kNone;  ///< kNone: must be bound from the archive.
  double a = 0;             ///< Mean of kNormal, low end of kUniform.
  double b = 0;             ///< Standard deviation of kNormal, high end of kUniform.
  std::uint64_t seed = 0;
  friend bool operator==(const WeightInit&, const WeightInit&) = default;
};

struct Node {
  NodeKind kind = NodeKind::kOp;
  std::string op;    ///< Of kOp: "namespace.name.overload", overload "default" when empty in ATen.
  std::string name;  ///< Of kInput and kWeight; for kOp the name in the source, for messages only.
  std::vector<Arg> args;         ///< Of kOp: named, in schema order, defaults left out.
  std::vector<ValueId> outputs;  ///< One or more; kInput, kWeight and kConstant have exactly one.
  HostTensor literal;            ///< Of kConstant.
  WeightInit init;               ///< Of kWeight.
};

struct Value {
  std::int32_t node = -1;   ///< Index into Graph::nodes().
  std::int32_t output = 0;  ///< Which of the node's outputs.
  TensorType type;
};

/// A tensor program: append-only, topological by construction. Pure ops are hash-consed: adding the
/// same op with the same arguments again returns the first one's outputs. Ops that the op table
/// does not know to be pure (RNG, mutation) are never merged.
class Graph {
 public:
  Graph();
  explicit Graph(std::string name);
  Graph(const Graph&) = default;  ///< Copies share nothing: the SymContext is copied too.
  Graph& operator=(const Graph&) = default;
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  std::string name;
  SymContext syms;

  ValueId add_input(std::string name, TensorType type);
  ValueId add_weight(std::string name, TensorType type, WeightInit init = {});
  ValueId add_constant(HostTensor literal);
  /// Appends an op whose output types the caller knows. Returns its outputs.
  std::vector<ValueId> add_op(std::string op, std::vector<Arg> args,
                              std::vector<TensorType> output_types, std::string name = {});
  void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<ValueId>& inputs() const { return inputs_; }  ///< Of kInput nodes, in order.
  const std::vector<ValueId>& outputs() const { return outputs_; }
  const Value& value(ValueId id) const { return values_[static_cast<std::size_t>(id.index)]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
  const Node& node_of(ValueId id) const { return nodes_[static_cast<std::size_t>(value(id).node)]; }

 private:
  ValueId add_value(std::int32_t node, std::int32_t output, TensorType type);

  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::unordered_map<std::string, std::int32_t> pure_nodes_;  // key text -> node, for hash-consing
};

/// Argument by name, nullptr when left out.
const ArgValue* find_arg(const Node& node, std::string_view name);
/// Calls fn for every tensor operand of the node, in argument order.
void for_each_operand(const Node& node, const std::function<void(ValueId)>& fn);
std::vector<ValueId> operands_of(const Node& node);

/// Number of users of each value, outputs of the graph counted.
std::vector<int> count_uses(const Graph& graph);

/// Structural check: operands precede users, op-table type rules agree with the recorded types,
/// symbols belong to the context. Empty when sound, else one line a fault.
std::vector<std::string> verify(const Graph& graph);

/// Where the op table's type rule disagrees with `recorded`, one line a fault. Interns sizes in
/// `graph`. Empty for ops without a row.
std::vector<std::string> type_faults(Graph& graph, std::string_view op,
                                     const std::vector<Arg>& args,
                                     const std::vector<TensorType>& recorded);

/// "f32[batch, 512]".
std::string to_string(const Graph& graph, const TensorType& type);

/// The text form. parse_graph(print_graph(g)) prints the same bytes again.
std::string print_graph(const Graph& graph);
/// Reads the text form (an .ir file, at most 64 MiB). Throws UserError with file:line:column for
/// every fault found.
Graph parse_graph(std::string_view text, std::string_view file_name);

}  // namespace breakeven
