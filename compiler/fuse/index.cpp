#include "compiler/fuse/index.h"

#include <algorithm>

namespace breakeven {

const Sym* Index::coefficient_of(int var) const {
  for (const IndexTerm& term : terms) {
    if (term.var == var) return &term.coefficient;
  }
  return nullptr;
}

Index constant_index(SymContext& syms, std::int64_t value) { return {syms.constant(value), {}}; }

Index variable_index(SymContext& syms, int var) {
  return {syms.constant(0), {{var, syms.constant(1)}}};
}

Index add(SymContext& syms, const Index& a, const Index& b) {
  Index sum{syms.add(a.base, b.base), {}};
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    if (j == b.terms.size() || (i < a.terms.size() && a.terms[i].var < b.terms[j].var)) {
      sum.terms.push_back(a.terms[i++]);
    } else if (i == a.terms.size() || b.terms[j].var < a.terms[i].var) {
      sum.terms.push_back(b.terms[j++]);
    } else {
      const Sym coefficient = syms.add(a.terms[i].coefficient, b.terms[j].coefficient);
      if (!syms.is_constant(coefficient, 0)) sum.terms.push_back({a.terms[i].var, coefficient});
      ++i;
      ++j;
    }
  }
  return sum;
}

Index scale(SymContext& syms, const Index& a, Sym factor) {
  if (syms.is_constant(factor, 0)) return constant_index(syms, 0);
  Index product{syms.mul(a.base, factor), {}};
  for (const IndexTerm& term : a.terms) {
    product.terms.push_back({term.var, syms.mul(term.coefficient, factor)});
  }
  return product;
}

Index linear_index(SymContext& syms, const IndexMap& map, std::span<const Sym> sizes) {
  BE_CHECK(map.size() == sizes.size());
  Index position = constant_index(syms, 0);
  Sym stride = syms.constant(1);
  for (std::size_t d = map.size(); d-- > 0;) {
    position = add(syms, position, scale(syms, map[d], stride));
    stride = syms.mul(stride, sizes[d]);
  }
  return position;
}

std::string to_string(const SymContext& syms, const Index& index) {
  std::string text;
  for (const IndexTerm& term : index.terms) {
    if (!text.empty()) text += " + ";
    if (!syms.is_constant(term.coefficient, 1)) {
      const bool plain = syms.kind(term.coefficient) == SymKind::kConst ||
                         syms.kind(term.coefficient) == SymKind::kSymbol;
      const std::string factor = syms.to_string(term.coefficient);
      text += plain ? factor + "*" : "(" + factor + ")*";
    }
    text += term.var >= kMemberVar ? "row(m" + std::to_string(term.var - kMemberVar) + ")"
                                   : "i" + std::to_string(term.var);
  }
  if (text.empty()) return syms.to_string(index.base);
  if (!syms.is_constant(index.base, 0)) text += " + " + syms.to_string(index.base);
  return text;
}

Result<IndexMap> broadcast_map(SymContext& syms, const IndexMap& at,
                               std::span<const Sym> result_sizes,
                               std::span<const Sym> operand_sizes) {
  if (operand_sizes.size() > at.size()) {
    return Refusal{"rank", "the operand has more dims than the result"};
  }
  IndexMap map;
  const std::size_t lead = at.size() - operand_sizes.size();
  for (std::size_t d = 0; d < operand_sizes.size(); ++d) {
    if (syms.is_constant(operand_sizes[d], 1)) {
      map.push_back(constant_index(syms, 0));
    } else if (operand_sizes[d] == result_sizes[lead + d]) {
      map.push_back(at[lead + d]);
    } else {
      return Refusal{"symbolic_broadcast", "size " + syms.to_string(operand_sizes[d]) +
                                               " is not provably equal to " +
                                               syms.to_string(result_sizes[lead + d])};
    }
  }
  return map;
}

}  // namespace breakeven
