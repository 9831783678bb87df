#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/fuse/index.h"
#include "compiler/fuse/product.h"
#include "compiler/ir/graph.h"

namespace breakeven {

enum class GroupKind : std::uint8_t {
  kFused,   ///< One generated kernel.
  kView,    ///< Re-indexes a value; no kernel, no library call.
  kExtern,  ///< One library call.
};

/// What a member of a fused group computes for one element.
enum class MemberKind : std::uint8_t {
  kLoad,       ///< Element `offset` of a value from outside the group.
  kLiteral,    ///< A constant of the graph: the same for every element.
  kIota,       ///< start + step * index (arange).
  kPointwise,  ///< The op's expression over its operands.
  kReduce,     ///< The op's fold of its operand over the row.
  kCopy,       ///< Its operand, unchanged but for the cast to its own dtype.
  kProduct,    ///< A row of `source` times a column of the body's weight, plus its operand.
};

/// Exact value of a literal, before its cast to the member's dtype.
struct LiteralValue {
  enum class Kind : std::uint8_t { kFloat, kInteger, kSymbolic };
  Kind kind = Kind::kInteger;
  double number = 0;         ///< Of kFloat.
  std::int64_t integer = 0;  ///< Of kInteger; bool is 0 or 1.
  Sym symbolic;              ///< Of kSymbolic.
};

/// One value of a fused group at one place of its iteration space.
struct Member {
  MemberKind kind = MemberKind::kLoad;
  ValueId value;  ///< Whose element this is; none for a scalar operand.
  DType dtype = DType::kF32;
  int node = -1;                ///< Of kPointwise, kReduce and kProduct.
  IndexMap at;                  ///< Where in `value`, one Index a dim.
  std::vector<int> operands;    ///< Members it reads; of kPointwise one a slot of the expression,
                                ///< -1 for an optional argument left out.
  bool full = false;            ///< Depends on the row: one value an element, else one a row.
  ValueId source;               ///< Of kLoad: the value in memory that is read...
  Index offset;                 ///< ...this many elements from its start. Of kIota: the index.
                                ///< Of kProduct: left factor, and where its row starts.
  int index_bound_member = -1;  ///< Of a gathering kLoad: the member that holds the row number...
  Sym index_bound;              ///< ...which must lie in [0, index_bound).
  LiteralValue literal;         ///< Of kLiteral; the start of kIota.
  LiteralValue step;            ///< Of kIota.
};

/// A dim of a group's iteration space. Row dims come last: reductions of the group fold them all.
struct SpaceDim {
  Sym extent;
  bool row = false;
  friend bool operator==(const SpaceDim&, const SpaceDim&) = default;
};

/// A value that the group writes.
struct GroupOutput {
  ValueId value;
  int member = -1;
  Index offset;  ///< Where the member's element goes in the dense value.
};

/// The right factor of a kProduct member: read from a packed copy made when the model is prepared.
struct ProductWeight {
  ValueId value;
  bool columns_first = false;  ///< As in Product.
  std::int64_t depth = 0;
  std::int64_t columns = 0;
};

/// Everything a kernel computes: members in evaluation order over an iteration space.
struct FusedBody {
  std::vector<SpaceDim> space;
  std::vector<Member> members;
  std::vector<GroupOutput> outputs;
  std::vector<ValueId> inputs;  ///< Distinct values that members read, by first use; no weights of
                                ///< products.
  /// Of the body's kProduct member, whose columns are the last dim of the space.
  std::optional<ProductWeight> weight;
};

struct Group {
  GroupKind kind = GroupKind::kExtern;
  std::vector<int> nodes;  ///< Ascending; views folded into several groups appear in each.
  FusedBody body;          ///< Of kFused.
  std::string reason;      ///< Of kExtern: why no kernel was generated.
};

/// A producer and a consumer that could have shared a kernel and do not.
struct RefusedEdge {
  ValueId producer;
  int consumer = -1;  ///< Node.
  std::string reason;
};

/// How a graph is cut into kernels and library calls. Groups are in an order that runs.
struct FusionPlan {
  std::vector<Group> groups;
  std::vector<RefusedEdge> refused;
};

/// Why a product that could be generated goes to the library all the same; empty: it does not.
using LeaveProduct = std::function<std::string(const Graph&, const Product&)>;

struct FusionOptions {
  bool fuse = true;       ///< Off: every op is a library call.
  int max_members = 160;  ///< Ops in one kernel; compile time grows faster than linearly.
  LeaveProduct leave_product;
};

/// Cuts `graph` into groups. Interns new index expressions in graph.syms, changes nothing else.
FusionPlan fuse(Graph& graph, const FusionOptions& options = {});

/// The plan as text: groups with their space and members, then every refused edge and why.
std::string print_plan(const Graph& graph, const FusionPlan& plan);

/// Whether the op of `node` can be generated; otherwise why not.
Result<bool> is_fusable(const Graph& graph, const Node& node);

}  // namespace breakeven
