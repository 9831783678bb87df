#include "compiler/fuse/fusion.h"

#include <algorithm>
#include <memory>
#include <queue>

#include "compiler/fuse/group_builder.h"
#include "compiler/fuse/node_class.h"

namespace breakeven {
namespace {

/// Walks the graph from its outputs to its inputs: each fusable node joins a group of its users, or
/// becomes the root of a new one.
class Planner {
 public:
  Planner(Graph& graph, const FusionOptions& options) : graph_(graph), options_(options) {
    const std::size_t count = graph.nodes().size();
    group_of_.assign(count, -1);
    users_.resize(graph.values().size());
    is_output_.assign(graph.values().size(), false);
    for (std::size_t n = 0; n < count; ++n) {
      for_each_operand(graph.nodes()[n], [&](ValueId operand) {
        auto& users = users_[static_cast<std::size_t>(operand.index)];
        if (users.empty() || users.back() != static_cast<int>(n)) {
          users.push_back(static_cast<int>(n));
        }
      });
    }
    for (ValueId output : graph.outputs())
      is_output_[static_cast<std::size_t>(output.index)] = true;
    reasons_.resize(count);
    view_in_memory_.assign(count, false);
  }

  FusionPlan plan() {
    for (int n = static_cast<int>(graph_.nodes().size()) - 1; n >= 0; --n) visit(n);
    return assemble();
  }

 private:
  const Node& node(int n) const { return graph_.nodes()[static_cast<std::size_t>(n)]; }
  const std::vector<int>& users(ValueId value) const {
    return users_[static_cast<std::size_t>(value.index)];
  }

  void visit(int n) {
    const Node& op = node(n);
    if (op.kind != NodeKind::kOp) return;
    if (!options_.fuse) {
      reasons_[static_cast<std::size_t>(n)] = "fusion is switched off";
      return;
    }
    if (row_class(op) == OpClass::kView) {
      for (auto& builder : builders_) {
        for (std::size_t k = 0; k < op.outputs.size(); ++k) {
          if (builder->needs(op.outputs[k]) && !builder->fold_view(n, static_cast<int>(k))) {
            view_in_memory_[static_cast<std::size_t>(n)] = true;
          }
        }
      }
      return;
    }
    if (const auto fusable = is_fusable(graph_, op); !fusable) {
      reasons_[static_cast<std::size_t>(n)] = fusable.refusal().reason;
      note_refusals(n, fusable.refusal().reason);
      return;
    }
    if (const std::string left = why_left(op); !left.empty()) {
      reasons_[static_cast<std::size_t>(n)] = left;
      note_refusals(n, left);
      return;
    }
    if (row_class(op) == OpClass::kCreation) {
      // Every group that reads it repeats it; it is written to memory only for the others.
      std::set<int> outside;
      collect_outside(op.outputs[0], -1, outside);
      if (outside.empty() && !is_needed_by_output(op.outputs[0])) return;
    } else if (join_a_user(n)) {
      return;
    }
    group_of_[static_cast<std::size_t>(n)] = static_cast<int>(builders_.size());
    builders_.push_back(std::make_unique<GroupBuilder>(graph_, n));
  }

  /// Why a product goes to the library although a kernel could compute it.
  std::string why_left(const Node& op) const {
    if (!is_product(op) || !options_.leave_product) return {};
    return options_.leave_product(graph_, product_of(graph_, op).value());
  }

  bool join_a_user(int n) {
    const ValueId result = node(n).outputs[0];
    for (std::size_t g = builders_.size(); g-- > 0;) {
      GroupBuilder& builder = *builders_[g];
      if (!builder.needs(result)) continue;
      const std::string refusal = why_not_join(n, static_cast<int>(g));
      if (refusal.empty()) {
        builder.join(n);
        group_of_[static_cast<std::size_t>(n)] = static_cast<int>(g);
        return true;
      }
      refused_.push_back({result, builder.root(), refusal});
    }
    return false;
  }

  std::string why_not_join(int n, int group) {
    const GroupBuilder& builder = *builders_[static_cast<std::size_t>(group)];
    const ValueId result = node(n).outputs[0];
    if (static_cast<int>(builder.nodes().size()) >= options_.max_members) {
      return "the group already has " + std::to_string(options_.max_members) + " ops";
    }
    std::set<int> outside;
    collect_outside(result, group, outside);
    const bool needed_outside = !outside.empty() || is_needed_by_output(result);
    if (const auto joins = builder.can_join(n, needed_outside); !joins) {
      return joins.refusal().reason;
    }
    if (reaches(outside, group)) {
      return "another user of it must run before the group: fusing would make a cycle";
    }
    return {};
  }

  /// Users of `value` that `group` does not compute, looking through views it folds.
  void collect_outside(ValueId value, int group, std::set<int>& outside) const {
    for (int user : users(value)) {
      const Node& op = node(user);
      if (row_class(op) == OpClass::kView) {
        if (view_in_memory_[static_cast<std::size_t>(user)]) outside.insert(user);
        for (ValueId result : op.outputs) collect_outside(result, group, outside);
      } else if (group_of_[static_cast<std::size_t>(user)] == -1 || is_read_by_row(op, value) ||
                 (group >= 0 && group_of_[static_cast<std::size_t>(user)] != group)) {
        outside.insert(user);
      }
    }
  }

  /// Whether `user` reads whole rows of `value`, which must then be in memory: the table of a
  /// gather, the left factor of a product.
  bool is_read_by_row(const Node& user, ValueId value) const {
    if (is_product(user)) {
      const auto product = product_of(graph_, user);
      return !product.ok() || product.value().init != value || product.value().rows == value;
    }
    if (row_class(user) != OpClass::kGather) return false;
    const ArgValue* index = find_arg(user, "indices");
    if (index == nullptr) index = find_arg(user, "index");
    return index == nullptr || *index != ArgValue(value);
  }

  bool is_needed_by_output(ValueId value) const {
    if (is_output_[static_cast<std::size_t>(value.index)]) return true;
    for (int user : users(value)) {
      if (row_class(node(user)) != OpClass::kView) continue;
      for (ValueId result : node(user).outputs) {
        if (is_needed_by_output(result)) return true;
      }
    }
    return false;
  }

  /// Whether some path from `starts` enters `group`; other groups are entered and left as a whole.
  bool reaches(const std::set<int>& starts, int group) const {
    std::vector<bool> seen(graph_.nodes().size(), false);
    std::vector<int> stack(starts.begin(), starts.end());
    for (int start : starts) seen[static_cast<std::size_t>(start)] = true;
    const auto push = [&](int n) {
      if (!seen[static_cast<std::size_t>(n)]) {
        seen[static_cast<std::size_t>(n)] = true;
        stack.push_back(n);
      }
    };
    while (!stack.empty()) {
      const int n = stack.back();
      stack.pop_back();
      const int owner = group_of_[static_cast<std::size_t>(n)];
      if (owner == group) return true;
      if (owner >= 0) {
        for (int member : builders_[static_cast<std::size_t>(owner)]->nodes()) push(member);
      }
      for (ValueId result : node(n).outputs) {
        for (int user : users(result)) push(user);
      }
    }
    return false;
  }

  void note_refusals(int n, const std::string& reason) {
    for (ValueId result : node(n).outputs) {
      for (int user : users(result)) {
        if (group_of_[static_cast<std::size_t>(user)] >= 0) {
          refused_.push_back({result, user, reason});
        }
      }
    }
  }

  FusionPlan assemble();
  std::vector<ValueId> stored_values(const GroupBuilder& builder, int group) const;
  void order(std::vector<Group>& groups) const;

  Graph& graph_;
  FusionOptions options_;
  std::vector<std::vector<int>> users_;  // By value: nodes, ascending.
  std::vector<bool> is_output_;          // By value.
  std::vector<int> group_of_;            // By node: index into builders_, -1 outside.
  std::vector<bool> view_in_memory_;     // By node: some group could not read through it.
  std::vector<std::string> reasons_;     // By node: why it is no kernel.
  std::vector<std::unique_ptr<GroupBuilder>> builders_;
  std::vector<RefusedEdge> refused_;
};

std::vector<ValueId> Planner::stored_values(const GroupBuilder& builder, int group) const {
  std::vector<ValueId> stored;
  for (int n : builder.nodes()) {
    const ValueId result = node(n).outputs[0];
    std::set<int> outside;
    collect_outside(result, group, outside);
    if (n == builder.root() || !outside.empty() || is_needed_by_output(result)) {
      stored.push_back(result);
    }
  }
  return stored;
}

FusionPlan Planner::assemble() {
  std::vector<Group> groups;
  for (std::size_t g = 0; g < builders_.size(); ++g) {
    Group group;
    group.kind = GroupKind::kFused;
    group.nodes.assign(builders_[g]->nodes().begin(), builders_[g]->nodes().end());
    group.body = builders_[g]->lower(stored_values(*builders_[g], static_cast<int>(g)));
    groups.push_back(std::move(group));
  }
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const Node& op = graph_.nodes()[n];
    if (op.kind != NodeKind::kOp || group_of_[n] >= 0) continue;
    const OpClass op_class = row_class(op);
    if (op_class == OpClass::kCreation && reasons_[n].empty()) continue;
    Group group;
    group.kind = op_class == OpClass::kView ? GroupKind::kView : GroupKind::kExtern;
    group.nodes = {static_cast<int>(n)};
    group.reason = reasons_[n];
    groups.push_back(std::move(group));
  }
  order(groups);
  return {std::move(groups), std::move(refused_)};
}

std::vector<ValueId> inputs_of(const Graph& graph, const Group& group) {
  if (group.kind == GroupKind::kFused) return group.body.inputs;
  return operands_of(graph.nodes()[static_cast<std::size_t>(group.nodes[0])]);
}

std::vector<ValueId> outputs_of(const Graph& graph, const Group& group) {
  if (group.kind != GroupKind::kFused) {
    return graph.nodes()[static_cast<std::size_t>(group.nodes[0])].outputs;
  }
  std::vector<ValueId> outputs;
  for (const GroupOutput& output : group.body.outputs) outputs.push_back(output.value);
  return outputs;
}

/// Topological order by last node; views that nobody reads from memory are dropped.
void Planner::order(std::vector<Group>& groups) const {
  std::vector<int> producer(graph_.values().size(), -1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (ValueId value : outputs_of(graph_, groups[g])) {
      producer[static_cast<std::size_t>(value.index)] = static_cast<int>(g);
    }
  }
  std::vector<bool> live(groups.size(), false);
  std::vector<int> stack;
  const auto mark = [&](ValueId value) {
    const int g = producer[static_cast<std::size_t>(value.index)];
    if (g >= 0 && !live[static_cast<std::size_t>(g)]) {
      live[static_cast<std::size_t>(g)] = true;
      stack.push_back(g);
    }
  };
  for (ValueId output : graph_.outputs()) mark(output);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    // Effects and random draws stay even when nobody reads them.
    const OpRow* row = find_op(node(groups[g].nodes[0]).op);
    if (groups[g].kind == GroupKind::kExtern && (row == nullptr || !row->pure)) {
      for (ValueId value : outputs_of(graph_, groups[g])) mark(value);
    }
  }
  std::vector<int> pending(groups.size(), 0);
  std::vector<std::vector<int>> dependents(groups.size());
  while (!stack.empty()) {
    const int g = stack.back();
    stack.pop_back();
    std::set<int> needed;
    for (ValueId input : inputs_of(graph_, groups[static_cast<std::size_t>(g)])) {
      mark(input);
      const int from = producer[static_cast<std::size_t>(input.index)];
      if (from >= 0) needed.insert(from);
    }
    pending[static_cast<std::size_t>(g)] = static_cast<int>(needed.size());
    for (int from : needed) dependents[static_cast<std::size_t>(from)].push_back(g);
  }
  const auto key = [&](int g) {
    return std::pair(groups[static_cast<std::size_t>(g)].nodes.back(), g);
  };
  std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>> ready;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (live[g] && pending[g] == 0) ready.push(key(static_cast<int>(g)));
  }
  std::vector<Group> ordered;
  while (!ready.empty()) {
    const int g = ready.top().second;
    ready.pop();
    for (int next : dependents[static_cast<std::size_t>(g)]) {
      if (--pending[static_cast<std::size_t>(next)] == 0) ready.push(key(next));
    }
    ordered.push_back(std::move(groups[static_cast<std::size_t>(g)]));
  }
  BE_CHECK(
      static_cast<std::ptrdiff_t>(ordered.size()) == std::count(live.begin(), live.end(), true),
      "the fusion groups form a cycle");
  groups = std::move(ordered);
}

}  // namespace

FusionPlan fuse(Graph& graph, const FusionOptions& options) {
  return Planner(graph, options).plan();
}

}  // namespace breakeven
