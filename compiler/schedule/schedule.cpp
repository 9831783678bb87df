#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <set>

#include "compiler/ir/op_table.h"

namespace breakeven {
namespace {

/// Rows longer than this (in bytes of a buffer) are recomputed rather than kept.
constexpr std::int64_t kMaxBufferBytes = std::int64_t{1} << 20;
/// Work of a chunk that outweighs handing it to another thread, in operations on elements.
constexpr std::int64_t kGrainOps = 32768;

bool mergeable(SymContext& syms, const Index& index, int outer, int inner, Sym inner_extent) {
  const Sym* a = index.coefficient_of(outer);
  const Sym* b = index.coefficient_of(inner);
  if (a == nullptr && b == nullptr) return true;
  if (a == nullptr || b == nullptr) return false;
  return *a == syms.mul(*b, inner_extent);
}

template <typename Fn>
void for_each_index(FusedBody& body, const Fn& fn) {
  for (Member& member : body.members) {
    if (member.kind == MemberKind::kLoad || member.kind == MemberKind::kIota) fn(member.offset);
  }
  for (GroupOutput& output : body.outputs) fn(output.offset);
}

/// Merges neighbouring loops that every access walks as one.
void collapse(SymContext& syms, FusedBody& body, std::vector<LoopDim>& loops) {
  for (std::size_t inner = loops.size(); inner-- > 1;) {
    const LoopDim a = loops[inner - 1];
    LoopDim& b = loops[inner];
    bool merge = true;
    for_each_index(body, [&](const Index& index) {
      merge = merge && mergeable(syms, index, a.var, b.var, b.extent);
    });
    if (!merge) continue;
    for_each_index(body, [&](Index& index) {
      std::erase_if(index.terms, [&](const IndexTerm& term) { return term.var == a.var; });
    });
    b.extent = syms.mul(a.extent, b.extent);
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(inner) - 1);
  }
}

Sym product(SymContext& syms, const std::vector<LoopDim>& loops) {
  Sym result = syms.constant(1);
  for (const LoopDim& loop : loops) result = syms.mul(result, loop.extent);
  return result;
}

void mark_levels(FusedBody& body, const std::vector<LoopDim>& row) {
  std::set<int> row_vars;
  for (const LoopDim& loop : row) row_vars.insert(loop.var);
  for (Member& member : body.members) {
    member.full = false;
    if (member.kind == MemberKind::kReduce) continue;
    for (const IndexTerm& term : member.offset.terms) {
      if (row_vars.contains(term.var)) member.full = true;
    }
    for (int operand : member.operands) {
      if (operand >= 0 && body.members[static_cast<std::size_t>(operand)].full) member.full = true;
    }
    if (member.index_bound_member >= 0 &&
        body.members[static_cast<std::size_t>(member.index_bound_member)].full) {
      member.full = true;
    }
  }
}

std::vector<int> sources_of(const Member& member) {
  std::vector<int> sources;
  for (int operand : member.operands) {
    if (operand >= 0) sources.push_back(operand);
  }
  if (member.index_bound_member >= 0) sources.push_back(member.index_bound_member);
  return sources;
}

/// Assigns members to sweeps and chooses what is kept between them.
class PassBuilder {
 public:
  PassBuilder(const SymContext& syms, KernelSchedule& schedule)
      : schedule_(schedule), members_(schedule.body.members), depth_(members_.size(), 0) {
    const auto constant = syms.as_constant(schedule.row_extent);
    can_buffer_ = !schedule.flat && (!constant || *constant * 8 <= kMaxBufferBytes);
    find_depths();
  }

  void build() {
    std::size_t count = 0;
    for (const Member& member : members_) {
      const std::size_t m = index_of(member);
      if (member.kind == MemberKind::kReduce) {
        count = std::max(count, static_cast<std::size_t>(depth_[m]));
      }
    }
    for (const GroupOutput& output : schedule_.body.outputs) {
      if (member(output.member).full) {
        count = std::max(count, static_cast<std::size_t>(depth(output.member)) + 1);
      }
    }
    schedule_.passes.resize(count);
    for (std::size_t p = 0; p < count; ++p) place_targets(p);
    std::vector<std::set<int>> evaluated(count);
    for (std::size_t p = 0; p < count; ++p) evaluated[p] = closure(p, {});
    if (can_buffer_) choose_buffers(evaluated);
    for (std::size_t p = 0; p < count; ++p) fill_pass(p);
    place_row_members(count);
  }

 private:
  const Member& member(int m) const { return members_[static_cast<std::size_t>(m)]; }
  int depth(int m) const { return depth_[static_cast<std::size_t>(m)]; }
  std::size_t index_of(const Member& member) const {
    return static_cast<std::size_t>(&member - members_.data());
  }

  /// Of a full member: the sweep that can first compute it. Of a row-valued one: the sweeps that
  /// must be over.
  void find_depths() {
    for (std::size_t m = 0; m < members_.size(); ++m) {
      for (int source : sources_of(members_[m])) depth_[m] = std::max(depth_[m], depth(source));
      if (members_[m].kind == MemberKind::kReduce) ++depth_[m];
    }
  }

  void place_targets(std::size_t p) {
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (members_[m].kind == MemberKind::kReduce && depth_[m] == static_cast<int>(p) + 1) {
        schedule_.passes[p].reductions.push_back(static_cast<int>(m));
      }
    }
    for (std::size_t k = 0; k < schedule_.body.outputs.size(); ++k) {
      const int m = schedule_.body.outputs[k].member;
      if (member(m).full && depth(m) == static_cast<int>(p)) {
        schedule_.passes[p].stores.push_back(static_cast<int>(k));
      }
    }
  }

  std::set<int> closure(std::size_t p, const std::set<int>& available) const {
    std::set<int> needed;
    std::vector<int> stack;
    const auto want = [&](int m) {
      if (member(m).full && needed.insert(m).second && !available.contains(m)) stack.push_back(m);
    };
    for (int reduction : schedule_.passes[p].reductions) want(member(reduction).operands[0]);
    for (int store : schedule_.passes[p].stores) {
      want(schedule_.body.outputs[static_cast<std::size_t>(store)].member);
    }
    while (!stack.empty()) {
      const int m = stack.back();
      stack.pop_back();
      for (int source : sources_of(member(m))) want(source);
    }
    return needed;
  }

  /// Work to compute a full member again, from memory and row values.
  int cost(int m) const {
    std::set<int> seen;
    std::vector<int> stack = {m};
    int total = 0;
    while (!stack.empty()) {
      const int at = stack.back();
      stack.pop_back();
      if (!member(at).full || !seen.insert(at).second) continue;
      const Member& part = member(at);
      total += part.kind == MemberKind::kPointwise ? pointwise_cost(part) : 2;
      if (part.dtype == DType::kBF16 || part.dtype == DType::kF16) ++total;
      for (int source : sources_of(part)) stack.push_back(source);
    }
    return total;
  }

  int pointwise_cost(const Member& part) const { return part.heavy ? 10 : 1; }

  void choose_buffers(const std::vector<std::set<int>>& evaluated) {
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (!members_[m].full || members_[m].kind == MemberKind::kLiteral) continue;
      int sweeps = 0;
      for (const auto& pass : evaluated) sweeps += pass.contains(static_cast<int>(m)) ? 1 : 0;
      if (sweeps < 2 || !is_frontier(static_cast<int>(m))) continue;
      // One load and two cheap ops cost about what a trip through the buffer does.
      if (cost(static_cast<int>(m)) > 4) schedule_.buffers.push_back(static_cast<int>(m));
    }
  }

  /// Whether a later sweep uses the member directly.
  bool is_frontier(int m) const {
    for (std::size_t user = 0; user < members_.size(); ++user) {
      for (int source : sources_of(members_[user])) {
        if (source != m) continue;
        const int sweep =
            members_[user].kind == MemberKind::kReduce ? depth_[user] - 1 : depth_[user];
        if (sweep > depth(m)) return true;
      }
    }
    return false;
  }

  void fill_pass(std::size_t p) {
    RowPass& pass = schedule_.passes[p];
    for (int m : closure(p, kept_)) {
      if (kept_.contains(m)) {
        pass.reload.push_back(m);
      } else {
        pass.evaluate.push_back(m);
      }
    }
    for (int m : pass.evaluate) {
      const auto& buffers = schedule_.buffers;
      if (std::find(buffers.begin(), buffers.end(), m) != buffers.end()) pass.keep.push_back(m);
    }
    kept_.insert(pass.keep.begin(), pass.keep.end());
  }

  void place_row_members(std::size_t count) {
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (members_[m].full || members_[m].kind == MemberKind::kReduce) continue;
      const auto sweep = static_cast<std::size_t>(depth_[m]);
      (sweep < count ? schedule_.passes[sweep].before : schedule_.after)
          .push_back(static_cast<int>(m));
    }
    for (std::size_t k = 0; k < schedule_.body.outputs.size(); ++k) {
      if (!member(schedule_.body.outputs[k].member).full) {
        schedule_.row_stores.push_back(static_cast<int>(k));
      }
    }
  }

  KernelSchedule& schedule_;
  const std::vector<Member>& members_;
  std::vector<int> depth_;
  std::set<int> kept_;
  bool can_buffer_ = false;
};

}  // namespace

KernelSchedule schedule(SymContext& syms, FusedBody body) {
  KernelSchedule result;
  bool has_rows = false;
  for (std::size_t v = 0; v < body.space.size(); ++v) {
    const LoopDim loop{static_cast<int>(v), body.space[v].extent};
    (body.space[v].row ? result.row : result.outer).push_back(loop);
    has_rows = has_rows || body.space[v].row;
  }
  collapse(syms, body, result.outer);
  collapse(syms, body, result.row);
  if (!has_rows && !result.outer.empty()) {
    result.row = {result.outer.back()};
    result.outer.pop_back();
    result.flat = result.outer.empty();
  }
  mark_levels(body, result.row);
  result.row_extent = product(syms, result.row);
  result.parallel_extent = result.flat ? result.row_extent : product(syms, result.outer);
  result.body = std::move(body);
  for (const Member& member : result.body.members) {
    if (member.full) result.ops_per_element += member.heavy ? 10 : 1;
    if (member.kind == MemberKind::kReduce) {
      result.ops_per_element += 1;
      result.needs_elements = result.needs_elements || member.combine == Combine::kMax ||
                              member.combine == Combine::kMin;
    }
  }
  PassBuilder(syms, result).build();
  return result;
}

std::int64_t parallel_grain(const KernelSchedule& schedule, std::int64_t row_elements) {
  const std::int64_t elements = schedule.flat ? 1 : std::max<std::int64_t>(row_elements, 1);
  const std::int64_t ops = std::max<std::int64_t>(schedule.ops_per_element, 1) * elements;
  return std::max<std::int64_t>(1, kGrainOps / ops);
}

}  // namespace breakeven
