#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/fuse/fusion.h"

namespace breakeven {

/// A fused group while it grows from its root towards its producers. `needs` says at which places
/// of the iteration space each value is wanted; nodes join only when they can be computed there.
class GroupBuilder {
 public:
  GroupBuilder(Graph& graph, int root);

  /// Whether `node`, whose result this group needs, can be computed inside it; otherwise why not.
  Result<bool> can_join(int node, bool needed_outside) const;
  void join(int node);
  /// Hands the needs of a view's result on to its operand; false when that is not affine.
  bool fold_view(int node, int output);

  bool needs(ValueId value) const { return needs_.contains(value); }
  bool contains(int node) const { return nodes_.contains(node); }
  const std::set<int>& nodes() const { return nodes_; }
  int root() const { return root_; }

  /// Members in evaluation order. `stored` are the values that the outside needs.
  FusedBody lower(const std::vector<ValueId>& stored);

 private:
  using Needs = std::vector<std::pair<ValueId, IndexMap>>;

  Result<bool> can_reduce(int node, const IndexMap& at) const;
  Result<Needs> operand_needs(int node, const IndexMap& at) const;
  Result<Needs> product_needs(const Node& op, const IndexMap& at) const;
  Result<bool> can_multiply(ValueId result, const IndexMap& at) const;
  void split_space(int node, const IndexMap& at);
  void keep_in_memory(ValueId value);
  void add_need(ValueId value, IndexMap at);
  bool covers_level(const IndexMap& at, bool allow_missing_suffix) const;
  /// Whether the group visits every element of `value` exactly once.
  bool is_writable(ValueId value, const IndexMap& at) const;
  std::vector<Sym> reduced_extents(int node) const;
  std::vector<int> row_vars() const;
  ValueId result_of(int node) const;

  class Lowering;

  Graph& graph_;
  int root_;
  bool rows_decided_ = false;
  bool has_product_ = false;
  std::vector<SpaceDim> space_;
  std::set<int> nodes_;
  std::map<ValueId, std::vector<IndexMap>> needs_;
  // Tables of gathers and left factors: read at other places than the space's, so in memory.
  std::set<ValueId> in_memory_;
};

}  // namespace breakeven
