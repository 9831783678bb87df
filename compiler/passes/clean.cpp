#include <utility>

#include "compiler/ir/op_table.h"
#include "compiler/ir/reference.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewriter.h"

namespace breakeven {
namespace {

constexpr std::int64_t kMaxFoldedElements = 4096;

/// The node's value when all its operands are literals and the results are small.
std::vector<HostTensor> fold(const Rewriter& r, const Graph& built, const Node& node) {
  const OpRow* row = find_op(node.op);
  if (row == nullptr || !row->pure) return {};
  Graph alone;
  alone.syms = built.syms;
  bool is_constant = true;
  bool has_operand = false;
  std::vector<Arg> args = r.mapped(node.args);
  const auto bring = [&](ValueId id) {
    const Node& operand = built.node_of(id);
    is_constant = is_constant && operand.kind == NodeKind::kConstant;
    has_operand = true;
    return is_constant ? alone.add_constant(operand.literal) : ValueId{};
  };
  for (Arg& arg : args) {
    if (auto* id = std::get_if<ValueId>(&arg.value)) *id = bring(*id);
    if (auto* ids = std::get_if<std::vector<ValueId>>(&arg.value)) {
      for (ValueId& id : *ids) id = id.valid() ? bring(id) : id;
    }
    if (const auto* sym = std::get_if<Sym>(&arg.value)) {
      is_constant = is_constant && built.syms.as_constant(*sym).has_value();
    }
  }
  if (!is_constant || !has_operand) return {};
  std::vector<TensorType> types;
  for (const ValueId output : node.outputs) {
    const TensorType& type = r.source().type(output);
    std::int64_t count = 1;
    for (const Sym size : type.sizes) {
      const auto constant = built.syms.as_constant(size);
      if (!constant || *constant > kMaxFoldedElements) return {};
      count *= *constant;
      if (count > kMaxFoldedElements) return {};
    }
    types.push_back(type);
  }
  alone.set_outputs(alone.add_op(node.op, std::move(args), std::move(types)));
  Result<std::vector<HostTensor>> values = interpret_reference(alone, {}, {});
  return values.ok() ? std::move(values).value() : std::vector<HostTensor>{};
}

bool is_pure(const Node& node) {
  if (node.kind != NodeKind::kOp) return node.kind != NodeKind::kInput;
  const OpRow* row = find_op(node.op);
  return row != nullptr && row->pure;
}

}  // namespace

Graph fold_constants(const Graph& graph) {
  return Rewriter(graph).run([](Rewriter& r, const Node& node) {
    const std::vector<HostTensor> values = fold(r, r.graph(), node);
    if (values.size() != node.outputs.size()) return false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      r.replace(node, i, r.graph().add_constant(values[i]));
    }
    return true;
  });
}

Graph eliminate_dead(const Graph& graph) {
  std::vector<bool> is_live(graph.nodes().size(), false);
  const auto mark = [&](ValueId id) {
    is_live[static_cast<std::size_t>(graph.value(id).node)] = true;
  };
  for (const ValueId id : graph.outputs()) mark(id);
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    if (!is_live[i] && is_pure(node)) continue;
    is_live[i] = true;
    for_each_operand(node, mark);
  }
  return Rewriter(graph).run_live(is_live);
}

}  // namespace breakeven
