#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/emit_expression.h"
#include "compiler/codegen/kernel.h"

namespace breakeven {

/// What every loop nest of a kernel is written from: the head, the members' definitions, the
/// stores. A nest appends to `body_` and closes with kernel_of().
class KernelText {
 protected:
  KernelText(Graph& graph, const Schedule& schedule)
      : graph_(graph), schedule_(schedule), print_(graph, schedule) {}

  /// The whole kernel around `body_`, with `locals` at its start.
  KernelSource kernel_of(const std::string& locals);

  const std::vector<Member>& members() const { return schedule_.body.members; }
  bool in_row(std::size_t m) const {
    return schedule_.full[m] || members()[m].kind == MemberKind::kReduce;
  }
  std::string reg(std::size_t m) const;
  std::string input(ValueId value) const;  ///< "x2".

  /// Defines i0, i1, ... from the number `step` of a point of the outer dims.
  void outer_variables(const std::string& step, const std::string& indent);
  /// Values of one a row that are known before pass `p`.
  void once(int p, const std::string& indent);
  /// "const float m3 = ...;", with the row number of a gather checked before it.
  void define(std::size_t m, const std::string& indent);
  void store(const std::string& indent, std::size_t output);

  Graph& graph_;
  const Schedule& schedule_;
  ExpressionPrinter print_;
  std::ostringstream body_;

 private:
  void define_load(std::size_t m, const std::string& indent);
  std::string head(const std::string& locals) const;
};

/// C text of the type of the function that a product's kernel calls.
extern const std::string_view kMultiplyType;

/// The kernel of a schedule with a product.
KernelSource emit_product(Graph& graph, const Schedule& schedule);

}  // namespace breakeven
