#include <sstream>

#include "compiler/schedule/schedule.h"

namespace breakeven {
namespace {

std::string member_text(const Graph& graph, const Member& member) {
  switch (member.kind) {
    case MemberKind::kLoad:
      return "load [" + to_string(graph.syms, member.offset) + "]";
    case MemberKind::kLiteral:
      return "literal";
    case MemberKind::kIota:
      return "iota";
    case MemberKind::kCopy:
      return "copy";
    case MemberKind::kProduct:
      return "product of row [" + to_string(graph.syms, member.offset) + "..]";
    case MemberKind::kPointwise:
    case MemberKind::kReduce:
      return graph.nodes()[static_cast<std::size_t>(member.node)].op;
  }
  return {};
}

}  // namespace

std::string print_schedule(const Graph& graph, const Schedule& schedule) {
  static constexpr const char* kKeeps[] = {"", " (again where read)", " (row buffer)",
                                           " (read back from its output)"};
  std::ostringstream out;
  const auto& members = schedule.body.members;
  out << "parallel " << graph.syms.to_string(schedule.parallel_extent) << " steps of about "
      << graph.syms.to_string(schedule.work_per_iteration) << " operations\n";
  if (schedule.product.has_value()) {
    const ProductNest& nest = *schedule.product;
    out << "  panel of " << nest.lanes << " columns, up to " << nest.row_block << " of "
        << graph.syms.to_string(nest.rows) << " rows, depth " << schedule.body.weight->depth
        << " by " << nest.depth_block << ", tiles of up to " << nest.tile_rows << " x "
        << nest.lanes << "\n";
  }
  for (int pass = 0; pass <= schedule.passes; ++pass) {
    for (std::size_t m = 0; m < members.size(); ++m) {
      const bool in_row = schedule.full[m] || members[m].kind == MemberKind::kReduce;
      if (in_row || schedule.pass[m] != pass || members[m].kind == MemberKind::kLiteral) continue;
      out << "  once m" << m << " = " << member_text(graph, members[m]) << '\n';
    }
    if (pass == schedule.passes) break;
    out << "  pass " << pass << " over "
        << (schedule.row_is_parallel ? "the steps" : graph.syms.to_string(schedule.row_extent))
        << '\n';
    for (std::size_t m = 0; m < members.size(); ++m) {
      const bool in_row = schedule.full[m] || members[m].kind == MemberKind::kReduce;
      if (!in_row || schedule.pass[m] != pass) continue;
      out << "    m" << m << " = " << member_text(graph, members[m])
          << kKeeps[static_cast<int>(schedule.keep[m])] << '\n';
      for (const GroupOutput& output : schedule.body.outputs) {
        if (output.member == static_cast<int>(m)) {
          out << "    store m" << m << " [" << to_string(graph.syms, output.offset) << "]\n";
        }
      }
    }
  }
  return out.str();
}

}  // namespace breakeven
