#include "compiler/runtime/specialization.h"

#include <algorithm>
#include <utility>

#include "compiler/passes/passes.h"

namespace breakeven {

bool Specialization::fixes_all(const std::vector<int>& symbols) const {
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](int symbol) { return fixed[static_cast<std::size_t>(symbol)]; });
}

bool Specialization::fixes_any() const {
  return std::find(fixed.begin(), fixed.end(), true) != fixed.end();
}

Graph Specialization::apply(const Graph& graph) const {
  return fixes_any() ? specialize(graph, values, fixed) : graph;
}

std::string Specialization::policy_name() const {
  switch (policy) {
    case ShapePolicy::kStatic:
      return "static";
    case ShapePolicy::kDynamic:
      return "dynamic";
    case ShapePolicy::kAuto:
      break;
  }
  return "auto";
}

Specializer::Specializer(const Graph& graph, ShapePolicy policy)
    : policy_(policy), varied_(graph.syms.symbols().size(), policy == ShapePolicy::kDynamic) {}

Specialization Specializer::next(std::vector<std::int64_t> values) {
  if (policy_ == ShapePolicy::kAuto) {
    if (first_.empty()) first_ = values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != first_[i]) varied_[i] = true;
    }
  }
  Specialization made{policy_, std::move(values), varied_};
  made.fixed.flip();
  return made;
}

}  // namespace breakeven
