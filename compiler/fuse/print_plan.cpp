#include <sstream>

#include "compiler/fuse/fusion.h"

namespace breakeven {
namespace {

std::string value_name(ValueId value) { return "%" + std::to_string(value.index); }

std::string literal_text(const SymContext& syms, const LiteralValue& literal) {
  switch (literal.kind) {
    case LiteralValue::Kind::kFloat: {
      std::ostringstream out;
      out.precision(17);
      out << literal.number;
      return out.str();
    }
    case LiteralValue::Kind::kInteger:
      return std::to_string(literal.integer);
    case LiteralValue::Kind::kSymbolic:
      return syms.to_string(literal.symbolic);
  }
  return {};
}

void print_member(std::ostringstream& out, const Graph& graph, const FusedBody& body,
                  std::size_t m) {
  const Member& member = body.members[m];
  out << "    m" << m << " " << name_of(member.dtype) << (member.full ? "" : " per row") << " = ";
  switch (member.kind) {
    case MemberKind::kLoad:
      out << "load " << value_name(member.source) << "[" << to_string(graph.syms, member.offset)
          << "]";
      break;
    case MemberKind::kLiteral:
      out << literal_text(graph.syms, member.literal);
      break;
    case MemberKind::kIota:
      out << literal_text(graph.syms, member.literal) << " + "
          << literal_text(graph.syms, member.step) << " * (" << to_string(graph.syms, member.offset)
          << ")";
      break;
    case MemberKind::kCopy:
      out << "copy";
      break;
    case MemberKind::kProduct:
      out << "row " << value_name(member.source) << "[" << to_string(graph.syms, member.offset)
          << "..] * " << value_name(body.weight->value) << "[" << body.weight->depth << " x "
          << body.weight->columns << "] +";
      break;
    default:
      out << graph.nodes()[static_cast<std::size_t>(member.node)].op;
  }
  for (int operand : member.operands) {
    out << " " << (operand < 0 ? std::string("none") : "m" + std::to_string(operand));
  }
  out << "\n";
}

void print_body(std::ostringstream& out, const Graph& graph, const FusedBody& body) {
  out << "  space (";
  bool first = true;
  for (const SpaceDim& dim : body.space) {
    out << (first ? "" : ", ") << (dim.row ? "row " : "") << graph.syms.to_string(dim.extent);
    first = false;
  }
  out << ")\n";
  for (std::size_t m = 0; m < body.members.size(); ++m) print_member(out, graph, body, m);
  for (const GroupOutput& output : body.outputs) {
    out << "    store " << value_name(output.value) << "[" << to_string(graph.syms, output.offset)
        << "] = m" << output.member << "\n";
  }
}

}  // namespace

std::string print_plan(const Graph& graph, const FusionPlan& plan) {
  std::ostringstream out;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    static constexpr const char* kKinds[] = {"fused", "view", "extern"};
    out << "group " << g << " " << kKinds[static_cast<int>(group.kind)];
    for (int n : group.nodes) {
      const Node& node = graph.nodes()[static_cast<std::size_t>(n)];
      out << " " << node.op << "(" << value_name(node.outputs[0]) << ")";
    }
    if (!group.reason.empty()) out << "  # " << group.reason;
    out << "\n";
    if (group.kind == GroupKind::kFused) print_body(out, graph, group.body);
  }
  for (const RefusedEdge& edge : plan.refused) {
    out << "not fused: " << value_name(edge.producer) << " into "
        << graph.nodes()[static_cast<std::size_t>(edge.consumer)].op << "("
        << value_name(graph.nodes()[static_cast<std::size_t>(edge.consumer)].outputs[0])
        << "): " << edge.reason << "\n";
  }
  return out.str();
}

}  // namespace breakeven
