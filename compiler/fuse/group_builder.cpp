#include "compiler/fuse/group_builder.h"

#include <algorithm>

#include "compiler/fuse/node_class.h"

namespace breakeven {
namespace {

std::vector<bool> used_vars(const IndexMap& at, std::size_t count) {
  std::vector<bool> used(count, false);
  for (const Index& index : at) {
    for (const IndexTerm& term : index.terms) {
      if (term.var < kMemberVar) used[static_cast<std::size_t>(term.var)] = true;
    }
  }
  return used;
}

}  // namespace

GroupBuilder::GroupBuilder(Graph& graph, int root) : graph_(graph), root_(root) {
  IndexMap at;
  for (Sym size : graph.type(result_of(root)).sizes) {
    if (graph.syms.is_constant(size, 1)) {
      at.push_back(constant_index(graph.syms, 0));
    } else {
      at.push_back(variable_index(graph.syms, static_cast<int>(space_.size())));
      space_.push_back({size, false});
    }
  }
  add_need(result_of(root), at);
  join(root);
}

ValueId GroupBuilder::result_of(int node) const {
  return graph_.nodes()[static_cast<std::size_t>(node)].outputs[0];
}

std::vector<int> GroupBuilder::row_vars() const {
  std::vector<int> vars;
  for (std::size_t v = 0; v < space_.size(); ++v) {
    if (space_[v].row) vars.push_back(static_cast<int>(v));
  }
  return vars;
}

std::vector<Sym> GroupBuilder::reduced_extents(int node) const {
  const Node& op = graph_.nodes()[static_cast<std::size_t>(node)];
  const auto& sizes = graph_.type(std::get<ValueId>(*find_arg(op, "self"))).sizes;
  std::vector<Sym> extents;
  const std::vector<std::size_t> dims = reduced_dims(graph_, op).value();
  for (std::size_t dim : dims) {
    if (!graph_.syms.is_constant(sizes[dim], 1)) extents.push_back(sizes[dim]);
  }
  return extents;
}

void GroupBuilder::add_need(ValueId value, IndexMap at) {
  auto& maps = needs_[value];
  if (std::find(maps.begin(), maps.end(), at) == maps.end()) maps.push_back(std::move(at));
}

bool GroupBuilder::covers_level(const IndexMap& at, bool allow_missing_suffix) const {
  const std::vector<bool> used = used_vars(at, space_.size());
  bool full = !rows_decided_;
  for (int row : row_vars()) full = full || used[static_cast<std::size_t>(row)];
  bool missing = false;
  for (std::size_t v = 0; v < space_.size(); ++v) {
    if (space_[v].row && !full) continue;
    if (!used[v]) missing = true;
    if (used[v] && missing) return false;
  }
  return !missing || allow_missing_suffix;
}

bool GroupBuilder::is_writable(ValueId value, const IndexMap& at) const {
  const auto& sizes = graph_.type(value).sizes;
  std::vector<bool> seen(space_.size(), false);
  bool full = false;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const Index& index = at[d];
    if (!graph_.syms.is_constant(index.base, 0)) return false;
    if (index.terms.empty()) {
      if (!graph_.syms.is_constant(sizes[d], 1)) return false;  // One slice of several.
      continue;
    }
    if (index.terms.size() > 1 || index.terms[0].var >= kMemberVar ||
        !graph_.syms.is_constant(index.terms[0].coefficient, 1)) {
      return false;
    }
    const auto var = static_cast<std::size_t>(index.terms[0].var);
    if (seen[var] || space_[var].extent != sizes[d]) return false;
    seen[var] = true;
    full = full || space_[var].row;
  }
  for (std::size_t v = 0; v < space_.size(); ++v) {
    if (!seen[v] && (full || !space_[v].row)) return false;
  }
  return true;
}

Result<bool> GroupBuilder::can_reduce(int node, const IndexMap& at) const {
  const std::vector<Sym> extents = reduced_extents(node);
  if (extents.empty()) return true;
  if (has_product_) return Refusal{"product", "a matrix product and a row's reduction do not mix"};
  const std::vector<bool> used = used_vars(at, space_.size());
  std::vector<Sym> rest;
  bool rest_is_suffix = true;
  for (std::size_t v = 0; v < space_.size(); ++v) {
    if (!used[v]) rest.push_back(space_[v].extent);
    if (used[v] && !rest.empty()) rest_is_suffix = false;
  }
  if (rows_decided_) {
    for (int row : row_vars()) {
      if (used[static_cast<std::size_t>(row)]) {
        return Refusal{"nested_reduction", "a reduction would run for every element of the row"};
      }
    }
    std::vector<Sym> rows;
    for (int row : row_vars()) rows.push_back(space_[static_cast<std::size_t>(row)].extent);
    if (rows != extents) {
      return Refusal{"row_mismatch", "it folds other dims than the group's reductions"};
    }
    if (rest.size() != rows.size()) {
      return Refusal{"recompute", "the reduction would be repeated along a broadcast dim"};
    }
    return true;
  }
  if (rest.empty()) return true;
  if (!rest_is_suffix || rest != extents) {
    return Refusal{"row_mismatch", "it folds other dims than the last ones of the group's space"};
  }
  return true;
}

Result<bool> GroupBuilder::can_multiply(ValueId result, const IndexMap& at) const {
  if (has_product_) return Refusal{"product", "the group already has a matrix product"};
  if (rows_decided_) {
    return Refusal{"product", "a matrix product and a row's reduction do not mix"};
  }
  const int last = static_cast<int>(space_.size()) - 1;
  if (!is_writable(result, at) || at.back().terms.empty() || at.back().terms[0].var != last) {
    return Refusal{"product", "the group does not walk the product row by row"};
  }
  return true;
}

Result<bool> GroupBuilder::can_join(int node, bool needed_outside) const {
  const Node& op = graph_.nodes()[static_cast<std::size_t>(node)];
  const auto& maps = needs_.at(result_of(node));
  const OpClass op_class = row_class(op);
  if (in_memory_.contains(result_of(node))) {
    return Refusal{"in_memory", "the group reads whole rows of it, so it must be in memory"};
  }
  const bool costly = op_class == OpClass::kReduction || is_product(op) || is_heavy(op);
  if (maps.size() > 1 && (costly || maps.size() > 2)) {
    return Refusal{"index_maps", "it is read at " + std::to_string(maps.size()) +
                                     " different places, so it would be computed as often"};
  }
  if (needed_outside && (maps.size() > 1 || !is_writable(result_of(node), maps[0]))) {
    return Refusal{"not_writable", "others need it whole, and this group visits it in part"};
  }
  for (const IndexMap& at : maps) {
    if (op_class == OpClass::kReduction) {
      if (const auto reduces = can_reduce(node, at); !reduces) return reduces;
    } else if (is_product(op)) {
      if (const auto joins = can_multiply(result_of(node), at); !joins) return joins;
    } else if (is_heavy(op) && !covers_level(at, true)) {
      return Refusal{"recompute", "a costly op would be repeated along a broadcast dim"};
    }
    if (const auto needs = operand_needs(node, at); !needs) return needs.refusal();
  }
  return true;
}

void GroupBuilder::split_space(int node, const IndexMap& at) {
  if (rows_decided_) return;
  const std::vector<Sym> extents = reduced_extents(node);
  if (extents.empty()) return;
  rows_decided_ = true;
  const std::vector<bool> used = used_vars(at, space_.size());
  const bool all_used = std::find(used.begin(), used.end(), false) == used.end();
  if (all_used) {
    for (Sym extent : extents) space_.push_back({extent, true});
    return;
  }
  for (std::size_t v = 0; v < used.size(); ++v) space_[v].row = !used[v];
}

Result<GroupBuilder::Needs> GroupBuilder::product_needs(const Node& op, const IndexMap& at) const {
  Needs needs;
  const ValueId init = product_of(graph_, op).value().init;
  if (!init.valid()) return needs;
  auto map =
      broadcast_map(graph_.syms, at, graph_.type(op.outputs[0]).sizes, graph_.type(init).sizes);
  if (!map) return map.refusal();
  needs.emplace_back(init, std::move(map).value());
  return needs;
}

Result<GroupBuilder::Needs> GroupBuilder::operand_needs(int node, const IndexMap& at) const {
  const Node& op = graph_.nodes()[static_cast<std::size_t>(node)];
  SymContext& syms = graph_.syms;
  Needs needs;
  if (is_product(op)) return product_needs(op, at);
  switch (row_class(op)) {
    case OpClass::kPointwise:
      for (ValueId operand : operands_of(op)) {
        auto map =
            broadcast_map(syms, at, graph_.type(op.outputs[0]).sizes, graph_.type(operand).sizes);
        if (!map) return map.refusal();
        needs.emplace_back(operand, std::move(map).value());
      }
      return needs;
    case OpClass::kReduction: {
      const ValueId self = std::get<ValueId>(*find_arg(op, "self"));
      const auto& sizes = graph_.type(self).sizes;
      const std::vector<std::size_t> reduced = reduced_dims(graph_, op).value();
      const std::vector<int> rows = row_vars();
      std::size_t next_row = 0;
      std::size_t next_out = 0;
      IndexMap map;
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        const bool folded = std::find(reduced.begin(), reduced.end(), d) != reduced.end();
        if (folded && keeps_dims(op)) ++next_out;
        if (!folded) {
          map.push_back(at[next_out++]);
        } else if (syms.is_constant(sizes[d], 1)) {
          map.push_back(constant_index(syms, 0));
        } else {
          // Before the split the row's variables do not exist yet: any placeholder will do.
          map.push_back(next_row < rows.size() ? variable_index(syms, rows[next_row])
                                               : constant_index(syms, 0));
          ++next_row;
        }
      }
      needs.emplace_back(self, std::move(map));
      return needs;
    }
    case OpClass::kGather: {
      const bool embedding = op.op == "aten.embedding.default";
      const ArgValue* indices = find_arg(op, embedding ? "indices" : "index");
      if (indices == nullptr || !std::holds_alternative<ValueId>(*indices)) {
        return Refusal{"operand_kind", "the gather has no index tensor"};
      }
      const ValueId index = std::get<ValueId>(*indices);
      const std::size_t rank = graph_.type(index).sizes.size();
      const auto begin = at.begin() + static_cast<std::ptrdiff_t>(gathered_dim(graph_, op));
      needs.emplace_back(index, IndexMap(begin, begin + static_cast<std::ptrdiff_t>(rank)));
      return needs;
    }
    default:
      return needs;
  }
}

void GroupBuilder::join(int node) {
  const Node& op = graph_.nodes()[static_cast<std::size_t>(node)];
  nodes_.insert(node);
  const std::vector<IndexMap> maps = needs_.at(op.outputs[0]);
  for (const IndexMap& at : maps) {
    if (row_class(op) == OpClass::kReduction) split_space(node, at);
    Needs needs = operand_needs(node, at).value();
    for (auto& [value, map] : needs) add_need(value, std::move(map));
  }
  if (row_class(op) == OpClass::kGather) {
    keep_in_memory(
        std::get<ValueId>(*find_arg(op, op.op == "aten.embedding.default" ? "weight" : "self")));
  }
  if (is_product(op)) {
    has_product_ = true;
    keep_in_memory(product_of(graph_, op).value().rows);
  }
}

void GroupBuilder::keep_in_memory(ValueId value) {
  in_memory_.insert(value);
  while (row_class(graph_.node_of(value)) == OpClass::kView) {
    value = std::get<ValueId>(*find_arg(graph_.node_of(value), "self"));
    in_memory_.insert(value);
  }
}

bool GroupBuilder::fold_view(int node, int output) {
  const Node& op = graph_.nodes()[static_cast<std::size_t>(node)];
  const auto found = needs_.find(op.outputs[static_cast<std::size_t>(output)]);
  if (found == needs_.end()) return false;
  const std::vector<IndexMap> maps = found->second;
  Needs folded;
  for (const IndexMap& at : maps) {
    auto map = view_source_map(graph_, op, output, at);
    if (!map) return false;
    folded.emplace_back(std::get<ValueId>(*find_arg(op, "self")), std::move(map).value());
  }
  for (auto& [value, map] : folded) add_need(value, std::move(map));
  return true;
}

}  // namespace breakeven
