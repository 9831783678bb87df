#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/schedule/schedule.h"

namespace breakeven {

/// Text of values and indices inside one kernel. Members are m0, m1, ...; outer variables i0, i1,
/// ...; the row's r<v>; sizes that are no constants s0, s1, ... in the order of first use.
class ExpressionPrinter {
 public:
  ExpressionPrinter(Graph& graph, const Schedule& schedule) : graph_(graph), schedule_(schedule) {}

  /// A symbolic size as a literal or a named size.
  std::string size(Sym sym);
  /// A name even for a constant: equal kernels of other sizes then have equal text.
  std::string named_size(Sym sym);
  const std::vector<Sym>& sizes() const { return sizes_; }

  /// Position in elements; `gather` is the member whose clamped row number k<gather> stands for
  /// member variables.
  std::string index(const Index& index, int gather = -1);
  std::string variable(int var) const;

  /// The value of a member that is no load and no reduction, in its register type.
  std::string value(int member);
  /// Member as an operand: its name, or a literal in place.
  std::string operand(int member);
  /// `text` of `from`'s register type converted to `to`'s.
  std::string convert(const std::string& text, DType from, DType to) const;
  /// `text` rounded to a 16-bit float type; other types unchanged.
  std::string rounded(const std::string& text, DType dtype) const;

 private:
  std::string literal(const LiteralValue& value, DType dtype);
  std::string pointwise(const Member& member);
  const Member& member_at(int m) const {
    return schedule_.body.members[static_cast<std::size_t>(m)];
  }

  Graph& graph_;
  const Schedule& schedule_;
  std::vector<Sym> sizes_;
};

}  // namespace breakeven
