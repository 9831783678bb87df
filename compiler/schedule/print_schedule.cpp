#include <sstream>

#include "compiler/schedule/schedule.h"

namespace breakeven {
namespace {

void print_list(std::ostringstream& out, const char* label, const std::vector<int>& members,
                char prefix) {
  if (members.empty()) return;
  out << "    " << label;
  for (int m : members) out << " " << prefix << m;
  out << "\n";
}

}  // namespace

std::string print_schedule(const Graph& graph, const KernelSchedule& schedule) {
  std::ostringstream out;
  const SymContext& syms = graph.syms;
  out << "  parallel " << syms.to_string(schedule.parallel_extent);
  for (const LoopDim& loop : schedule.outer) {
    out << " i" << loop.var << "<" << syms.to_string(loop.extent);
  }
  out << (schedule.flat ? " (flat)" : "") << ", row " << syms.to_string(schedule.row_extent);
  for (const LoopDim& loop : schedule.row) {
    out << " i" << loop.var << "<" << syms.to_string(loop.extent);
  }
  out << "\n";
  for (std::size_t p = 0; p < schedule.passes.size(); ++p) {
    const RowPass& pass = schedule.passes[p];
    out << "  sweep " << p << "\n";
    print_list(out, "once a row:", pass.before, 'm');
    print_list(out, "reload:", pass.reload, 'm');
    print_list(out, "compute:", pass.evaluate, 'm');
    print_list(out, "keep in a row buffer:", pass.keep, 'm');
    print_list(out, "reduce:", pass.reductions, 'm');
    print_list(out, "store output:", pass.stores, '#');
  }
  print_list(out, "after the sweeps, once a row:", schedule.after, 'm');
  print_list(out, "store output once a row:", schedule.row_stores, '#');
  return out.str();
}

}  // namespace breakeven
