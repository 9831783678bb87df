#include "compiler/codegen/emit_expression.h"

#include <algorithm>

#include "compiler/codegen/c_types.h"
#include "compiler/codegen/emit.h"
#include "compiler/ir/op_table.h"

namespace breakeven {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/// be_exp(x) -> be_exp_f32(x).
std::string with_suffix(std::string_view expression, std::string_view suffix) {
  std::string text;
  for (std::size_t at = 0; at < expression.size();) {
    if (expression.substr(at, 3) != "be_") {
      text += expression[at++];
      continue;
    }
    std::size_t end = at;
    while (end < expression.size() && is_word(expression[end])) ++end;
    text += expression.substr(at, end - at);
    text += '_';
    text += suffix;
    at = end;
  }
  return text;
}

std::string substitute(std::string_view expression, const std::vector<std::string>& operands) {
  std::string text;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    if (expression[at] != '{') {
      text += expression[at];
      continue;
    }
    const auto slot = static_cast<std::size_t>(expression[at + 1] - '0');
    BE_CHECK(slot < operands.size() && !operands[slot].empty(),
             "the expression " << expression << " reads operand " << slot << ", which is left out");
    text += operands[slot];
    at += 2;
  }
  return text;
}

}  // namespace

std::string ExpressionPrinter::size(Sym sym) {
  if (const auto value = graph_.syms.as_constant(sym)) return std::to_string(*value) + "LL";
  return named_size(sym);
}

std::string ExpressionPrinter::named_size(Sym sym) {
  const auto known = std::find(sizes_.begin(), sizes_.end(), sym);
  const auto index = known - sizes_.begin();
  if (known == sizes_.end()) sizes_.push_back(sym);
  return "s" + std::to_string(index);
}

std::string ExpressionPrinter::variable(int var) const {
  const int first_row = static_cast<int>(schedule_.body.space.size()) - schedule_.row_dims;
  if (var < first_row) return "i" + std::to_string(var);
  return schedule_.row_dims == 1 ? "j" : "r" + std::to_string(var - first_row);
}

std::string ExpressionPrinter::index(const Index& index, int gather) {
  std::string text;
  if (!graph_.syms.is_constant(index.base, 0) || index.terms.empty()) text = size(index.base);
  for (const IndexTerm& term : index.terms) {
    if (!text.empty()) text += " + ";
    if (!graph_.syms.is_constant(term.coefficient, 1)) text += size(term.coefficient) + " * ";
    text += term.var >= kMemberVar ? "k" + std::to_string(gather) : variable(term.var);
  }
  return text;
}

std::string ExpressionPrinter::rounded(const std::string& text, DType dtype) const {
  const CType& type = c_type(dtype);
  return type.round.empty() ? text : std::string(type.round) + '(' + text + ')';
}

std::string ExpressionPrinter::convert(const std::string& text, DType from, DType to) const {
  const CType& target = c_type(to);
  if (to == DType::kBool) return "(be_u8)(" + text + " != 0)";
  std::string value = text;
  // As eager on x86: narrow integers take the low bits of the wide conversion.
  const bool narrow = to == DType::kU8 || to == DType::kI8 || to == DType::kI16;
  if (is_floating(from) && narrow) value = "(be_i64)" + value;
  if (c_type(from).reg != target.reg || narrow) {
    value = '(' + std::string(target.reg) + ")(" + value + ')';
  }
  return rounded(value, to);
}

std::string ExpressionPrinter::literal(const LiteralValue& value, DType dtype) {
  switch (value.kind) {
    case LiteralValue::Kind::kSymbolic:
      return "((" + std::string(c_type(dtype).reg) + ")" + size(value.symbolic) + ')';
    case LiteralValue::Kind::kFloat:
      if (dtype == DType::kBool) return value.number != 0 ? "((be_u8)1)" : "((be_u8)0)";
      if (is_floating(dtype)) return float_literal(value.number, dtype);
      return integer_literal(static_cast<std::int64_t>(value.number), dtype);
    case LiteralValue::Kind::kInteger:
      if (dtype == DType::kBool) return value.integer != 0 ? "((be_u8)1)" : "((be_u8)0)";
      if (is_floating(dtype)) return float_literal(static_cast<double>(value.integer), dtype);
      return integer_literal(value.integer, dtype);
  }
  return {};
}

std::string ExpressionPrinter::operand(int member) {
  if (member < 0) return {};
  const Member& read = member_at(member);
  // A scalar argument has no value of its own: it stands in the expression, unrounded as in eager.
  if (read.kind == MemberKind::kLiteral && !read.value.valid()) {
    return literal(read.literal, read.dtype);
  }
  return "m" + std::to_string(member);
}

std::string ExpressionPrinter::pointwise(const Member& member) {
  const Node& node = graph_.nodes()[static_cast<std::size_t>(member.node)];
  const OpRow* row = find_op(node.op);
  if (row->compute == ComputeRule::kConvert) {
    const int source = member.operands[0];
    return convert(operand(source), member_at(source).dtype, member.dtype);
  }
  const DType compute = compute_dtype(graph_, node);
  std::vector<std::string> operands;
  for (const int read : member.operands) {
    std::string text = operand(read);
    const bool scalar = read >= 0 && !member_at(read).value.valid();
    if (scalar && row->rounds_scalars) text = rounded(text, compute);
    operands.push_back(std::move(text));
  }
  const bool integral = !is_floating(compute);
  const std::string_view expression =
      integral && !row->int_expr.empty() ? row->int_expr : row->c_expr;
  const std::string text = substitute(with_suffix(expression, c_type(compute).suffix), operands);
  if (member.dtype == DType::kBool && compute != DType::kBool) return "(be_u8)(" + text + ')';
  if (member.dtype == DType::kBool) {
    // A sum of two trues is true; the complement of a byte is not that of a bool.
    return expression.starts_with('~') ? "(be_u8)((" + text + ") & 1)"
                                       : "(be_u8)((" + text + ") != 0)";
  }
  return rounded('(' + std::string(c_type(member.dtype).reg) + ")(" + text + ')', member.dtype);
}

std::string ExpressionPrinter::value(int m) {
  const Member& member = member_at(m);
  switch (member.kind) {
    case MemberKind::kLiteral:
      return rounded(literal(member.literal, member.dtype), member.dtype);
    case MemberKind::kIota: {
      const std::string reg(c_type(member.dtype).reg);
      return rounded('(' + reg + ")(" + literal(member.literal, member.dtype) + " + " +
                         literal(member.step, member.dtype) + " * (" + reg + ")(" +
                         index(member.offset) + "))",
                     member.dtype);
    }
    case MemberKind::kPointwise:
      return pointwise(member);
    case MemberKind::kCopy: {
      const int source = member.operands[0];
      return convert(operand(source), member_at(source).dtype, member.dtype);
    }
    case MemberKind::kProduct:
      return member.operands[0] < 0 ? "c[l]" : "(c[l] + " + operand(member.operands[0]) + ')';
    case MemberKind::kLoad:
    case MemberKind::kReduce:
      break;
  }
  BE_CHECK(false, "loads and reductions have no expression");
  return {};
}

}  // namespace breakeven
