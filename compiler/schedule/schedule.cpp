#include "compiler/schedule/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/ir/op_table.h"

namespace breakeven {
namespace {

/// Recomputing up to this many cheap operations beats writing and reading a buffer.
constexpr int kRecomputeLimit = 3;
constexpr int kHeavyCost = 16;

Sym coefficient(SymContext& syms, const Index& index, int var) {
  const Sym* found = index.coefficient_of(var);
  return found != nullptr ? *found : syms.constant(0);
}

std::vector<Index*> accesses(FusedBody& body) {
  std::vector<Index*> all;
  for (Member& member : body.members) {
    if (member.kind == MemberKind::kLoad || member.kind == MemberKind::kIota ||
        member.kind == MemberKind::kProduct) {
      all.push_back(&member.offset);
    }
  }
  for (GroupOutput& output : body.outputs) all.push_back(&output.offset);
  return all;
}

/// Whether dims v and v + 1 are walked as one by every access.
bool can_merge(SymContext& syms, FusedBody& body, int v) {
  const auto at = static_cast<std::size_t>(v);
  // The columns of a product are a loop of their own.
  if (body.weight.has_value() && at + 2 == body.space.size()) return false;
  if (body.space[at].row != body.space[at + 1].row) return false;
  for (const Index* index : accesses(body)) {
    const Sym inner = coefficient(syms, *index, v + 1);
    if (coefficient(syms, *index, v) != syms.mul(body.space[at + 1].extent, inner)) return false;
  }
  return true;
}

void merge(SymContext& syms, FusedBody& body, int v) {
  const auto at = static_cast<std::ptrdiff_t>(v);
  for (Index* index : accesses(body)) {
    std::vector<IndexTerm> terms;
    for (IndexTerm term : index->terms) {
      if (term.var == v) continue;
      if (term.var > v && term.var < kMemberVar) --term.var;
      terms.push_back(term);
    }
    index->terms = std::move(terms);
  }
  SpaceDim& outer = body.space[static_cast<std::size_t>(v)];
  outer.extent = syms.mul(outer.extent, body.space[static_cast<std::size_t>(v) + 1].extent);
  body.space.erase(body.space.begin() + at + 1);
}

void merge_dims(SymContext& syms, FusedBody& body) {
  for (int v = static_cast<int>(body.space.size()) - 2; v >= 0; --v) {
    if (can_merge(syms, body, v)) merge(syms, body, v);
  }
}

class Scheduler {
 public:
  Scheduler(Graph& graph, const Group& group, const VectorUnit& unit)
      : graph_(graph), syms_(graph.syms), unit_(unit) {
    schedule_.body = group.body;
  }

  Schedule run() {
    merge_dims(syms_, schedule_.body);
    choose_row();
    find_full();
    assign_passes();
    choose_keep();
    estimate();
    if (schedule_.body.weight.has_value()) nest_product();
    return std::move(schedule_);
  }

 private:
  const std::vector<Member>& members() const { return schedule_.body.members; }
  std::size_t count() const { return members().size(); }

  void choose_row() {
    const auto& space = schedule_.body.space;
    for (const SpaceDim& dim : space) schedule_.row_dims += dim.row ? 1 : 0;
    if (schedule_.row_dims == 0 && !space.empty()) schedule_.row_dims = 1;
    schedule_.row_is_parallel =
        space.size() == 1 && !space[0].row && !schedule_.body.weight.has_value();
    schedule_.parallel_extent = syms_.constant(1);
    schedule_.row_extent = syms_.constant(1);
    const std::size_t outer = space.size() - static_cast<std::size_t>(schedule_.row_dims);
    for (std::size_t v = 0; v < space.size(); ++v) {
      Sym& extent =
          v < outer || schedule_.row_is_parallel ? schedule_.parallel_extent : schedule_.row_extent;
      extent = syms_.mul(extent, space[v].extent);
    }
  }

  bool walks_row(const Index& index) const {
    const int first_row = static_cast<int>(schedule_.body.space.size()) - schedule_.row_dims;
    return std::any_of(index.terms.begin(), index.terms.end(), [&](const IndexTerm& term) {
      return term.var >= kMemberVar
                 ? static_cast<bool>(
                       schedule_.full[static_cast<std::size_t>(term.var - kMemberVar)])
                 : term.var >= first_row;
    });
  }

  void find_full() {
    schedule_.full.assign(count(), false);
    // A value that is stored along the row is written element by element, even when it is the same
    // for each; its users then find it in the row loop alone.
    std::vector<bool> stored(count(), false);
    for (const GroupOutput& output : schedule_.body.outputs) {
      if (walks_row(output.offset)) stored[static_cast<std::size_t>(output.member)] = true;
    }
    for (std::size_t m = 0; m < count(); ++m) {
      const Member& member = members()[m];
      bool full = stored[m] || member.kind == MemberKind::kProduct;
      if (member.kind == MemberKind::kLoad || member.kind == MemberKind::kIota) {
        full = full || walks_row(member.offset);
      } else if (member.kind == MemberKind::kPointwise || member.kind == MemberKind::kCopy) {
        for (const int operand : member.operands) {
          full = full || (operand >= 0 && schedule_.full[static_cast<std::size_t>(operand)]);
        }
      }
      schedule_.full[m] = full;
    }
  }

  /// Members that `m` reads: operands and the row number of a gather.
  std::vector<int> reads(std::size_t m) const {
    std::vector<int> all;
    for (const int operand : members()[m].operands) {
      if (operand >= 0) all.push_back(operand);
    }
    if (members()[m].index_bound_member >= 0) all.push_back(members()[m].index_bound_member);
    return all;
  }

  void assign_passes() {
    schedule_.pass.assign(count(), 0);
    int last = -1;
    for (std::size_t m = 0; m < count(); ++m) {
      int earliest = 0;
      for (const int read : reads(m)) {
        const auto r = static_cast<std::size_t>(read);
        const bool folded = members()[r].kind == MemberKind::kReduce;
        earliest = std::max(earliest, schedule_.pass[r] + (folded ? 1 : 0));
      }
      schedule_.pass[m] = earliest;
      if (schedule_.full[m] || members()[m].kind == MemberKind::kReduce) {
        last = std::max(last, earliest);
      }
    }
    schedule_.passes = last + 1;
  }

  /// Pass in which member m reads its operands.
  int reading_pass(std::size_t m) const { return schedule_.pass[m]; }

  int cost(std::size_t m) const {
    const Member& member = members()[m];
    if (member.kind == MemberKind::kLiteral) return 0;
    if (member.kind != MemberKind::kPointwise) return 1;
    const OpRow* row = find_op(graph_.nodes()[static_cast<std::size_t>(member.node)].op);
    for (const std::string_view heavy :
         {"be_exp", "be_log", "be_tanh", "be_erf", "be_pow", "be_sin", "be_cos", "be_fmod",
          "be_remainder", "be_floor_div"}) {
      if (row->c_expr.find(heavy) != std::string_view::npos) return kHeavyCost;
    }
    return 1;
  }

  /// Operations to compute m again from memory, capped above the limit.
  int recompute_cost(std::size_t m) const {
    int total = cost(m);
    for (const int read : reads(m)) {
      if (total > kRecomputeLimit) break;
      if (schedule_.full[static_cast<std::size_t>(read)]) {
        total += recompute_cost(static_cast<std::size_t>(read));
      }
    }
    return total;
  }

  void choose_keep() {
    schedule_.keep.assign(count(), Keep::kOnePass);
    for (std::size_t m = count(); m-- > 0;) {
      // Reduce members read in their own pass; everything else where it stands. What is recomputed
      // in a later pass reads there too, so users are visited before what they read.
      for (const int read : reads(m)) note_read(static_cast<std::size_t>(read), reading_pass(m));
      if (schedule_.keep[m] == Keep::kRecompute) {
        for (const int later : recomputed_in_[m]) {
          for (const int read : reads(m)) note_read(static_cast<std::size_t>(read), later);
        }
      }
    }
    for (std::size_t m = 0; m < count(); ++m) {
      if (schedule_.keep[m] == Keep::kBuffer) schedule_.buffers.push_back(static_cast<int>(m));
    }
  }

  void note_read(std::size_t m, int pass) {
    if (!schedule_.full[m] || pass == schedule_.pass[m]) return;
    if (schedule_.keep[m] == Keep::kOnePass) schedule_.keep[m] = keep_of(m);
    recomputed_in_[m].insert(pass);
  }

  Keep keep_of(std::size_t m) const {
    if (recompute_cost(m) <= kRecomputeLimit) return Keep::kRecompute;
    for (const GroupOutput& output : schedule_.body.outputs) {
      if (output.member == static_cast<int>(m)) return Keep::kReload;
    }
    return Keep::kBuffer;
  }

  void estimate() {
    int per_element = 1;
    for (std::size_t m = 0; m < count(); ++m) {
      if (schedule_.full[m] || members()[m].kind == MemberKind::kReduce) per_element += cost(m);
    }
    schedule_.work_per_iteration = syms_.mul(syms_.constant(per_element), schedule_.row_extent);
  }

  /// Rows are the outer steps so far; now they are blocked, and a step is a panel of columns.
  void nest_product() {
    ProductNest nest = product_tile(unit_);
    const ProductWeight& weight = *schedule_.body.weight;
    nest.rows = schedule_.parallel_extent;
    nest.panels = (weight.columns + nest.lanes - 1) / nest.lanes;
    const Sym block = syms_.constant(nest.row_block);
    const Sym blocks =
        syms_.floor_div(syms_.add(nest.rows, syms_.constant(nest.row_block - 1)), block);
    schedule_.parallel_extent = syms_.mul(syms_.constant(nest.panels), blocks);
    // A weight costs its way from memory, and then a sixteenth of that for each row.
    const Sym rows = syms_.min(nest.rows, block);
    schedule_.work_per_iteration = syms_.mul(syms_.constant(weight.depth * nest.lanes / 16),
                                             syms_.add(rows, syms_.constant(16)));
    schedule_.product = nest;
  }

  Graph& graph_;
  SymContext& syms_;
  VectorUnit unit_;
  Schedule schedule_;
  std::map<std::size_t, std::set<int>> recomputed_in_;
};

}  // namespace

ProductNest product_tile(const VectorUnit& unit) {
  ProductNest nest;
  nest.vectors = 2;
  nest.lanes = nest.vectors * unit.floats;
  // A register for a row's element and one for each vector of the weight; the rest are sums.
  nest.tile_rows = (unit.registers - nest.vectors - 1) / nest.vectors;
  nest.row_block = 16 * nest.tile_rows;
  return nest;
}

Schedule schedule_group(Graph& graph, const Group& group, const VectorUnit& unit) {
  return Scheduler(graph, group, unit).run();
}

}  // namespace breakeven
