#include "compiler/passes/rewriter.h"

#include <numeric>
#include <utility>

#include "compiler/ir/op_table.h"
#include "compiler/ir/type_rules.h"
#include "compiler/support/check.h"

namespace breakeven {

Rewriter::Rewriter(const Graph& source)
    : source_(source), graph_(source.name), map_(source.values().size()) {
  graph_.syms = source.syms;
}

Graph Rewriter::run(const Rule& rule) {
  for (const Node& node : source_.nodes()) {
    if (node.kind != NodeKind::kOp) {
      copy(node);
      continue;
    }
    bool is_replaced = false;
    try {
      is_replaced = rule(*this, node);
    } catch (const RuleRefusal&) {
      is_replaced = false;
    }
    if (!is_replaced) copy(node);
  }
  return take();
}

Graph Rewriter::run_live(const std::vector<bool>& is_live) {
  for (std::size_t i = 0; i < is_live.size(); ++i) {
    if (is_live[i]) copy(source_.nodes()[i]);
  }
  return take();
}

Graph Rewriter::take() {
  std::vector<ValueId> outputs;
  for (const ValueId id : source_.outputs()) outputs.push_back(mapped(id));
  graph_.set_outputs(std::move(outputs));
  return std::move(graph_);
}

std::vector<Arg> Rewriter::mapped(const std::vector<Arg>& args) const {
  std::vector<Arg> result = args;
  for (Arg& arg : result) {
    if (auto* id = std::get_if<ValueId>(&arg.value)) {
      *id = mapped(*id);
    } else if (auto* ids = std::get_if<std::vector<ValueId>>(&arg.value)) {
      for (ValueId& item : *ids) {
        if (item.valid()) item = mapped(item);
      }
    }
  }
  return result;
}

void Rewriter::copy(const Node& node) {
  const TensorType& type = source_.type(node.outputs.front());
  switch (node.kind) {
    case NodeKind::kInput:
      replace(node, graph_.add_input(node.name, type));
      return;
    case NodeKind::kWeight:
      replace(node, graph_.add_weight(node.name, type, node.init));
      return;
    case NodeKind::kConstant:
      replace(node, graph_.add_constant(node.literal));
      return;
    case NodeKind::kOp:
      break;
  }
  std::vector<TensorType> types;
  for (const ValueId output : node.outputs) types.push_back(source_.type(output));
  const std::vector<ValueId> outputs =
      graph_.add_op(node.op, mapped(node.args), std::move(types), node.name);
  for (std::size_t i = 0; i < outputs.size(); ++i) replace(node, i, outputs[i]);
}

void Rewriter::replace(const Node& node, std::size_t i, ValueId value) {
  map_[static_cast<std::size_t>(node.outputs[i].index)] = value;
}

ValueId Rewriter::add(std::string op, std::vector<Arg> args, std::string name) {
  Result<std::vector<ValueId>> outputs =
      add_checked(graph_, std::move(op), std::move(args), std::move(name));
  if (!outputs.ok()) throw RuleRefusal{outputs.refusal()};
  return outputs.value().front();
}

ValueId Rewriter::add_like(const Node& node, std::string op, std::vector<Arg> args) {
  return graph_
      .add_op(std::move(op), std::move(args), {source_.type(node.outputs.front())}, node.name)
      .front();
}

ValueId Rewriter::optional_tensor(const Node& node, std::string_view name) const {
  const ArgValue* value = find_arg(node, name);
  const auto* id = value == nullptr ? nullptr : std::get_if<ValueId>(value);
  return id == nullptr || !id->valid() ? ValueId{} : mapped(*id);
}

ValueId Rewriter::tensor(const Node& node, std::string_view name) const {
  const ValueId id = optional_tensor(node, name);
  if (!id.valid()) refuse("tensor argument " + std::string(name) + " is missing");
  return id;
}

ValueId Rewriter::view(ValueId self, std::vector<Sym> sizes, std::string name) {
  // A view of a view is a view of the first one's source.
  while (graph_.node_of(self).op == "aten.view.default") {
    self = std::get<ValueId>(*find_arg(graph_.node_of(self), "self"));
  }
  if (type(self).sizes == sizes) return self;
  const TensorType result{type(self).dtype, sizes};
  return graph_
      .add_op("aten.view.default", {{"self", self}, {"size", std::move(sizes)}}, {result},
              std::move(name))
      .front();
}

ValueId Rewriter::permute(ValueId self, std::vector<std::int64_t> dims, std::string name) {
  const Node& inner = graph_.node_of(self);
  if (inner.op == "aten.permute.default") {
    const auto& first = std::get<std::vector<Sym>>(*find_arg(inner, "dims"));
    for (std::int64_t& dim : dims) dim = *syms().as_constant(first[static_cast<std::size_t>(dim)]);
    self = std::get<ValueId>(*find_arg(inner, "self"));
  }
  std::vector<std::int64_t> identity(dims.size());
  std::iota(identity.begin(), identity.end(), 0);
  if (dims == identity) return self;
  return add("aten.permute.default", {{"self", self}, {"dims", constants(dims)}}, std::move(name));
}

ValueId Rewriter::expand(ValueId self, std::vector<Sym> sizes, std::string name) {
  if (type(self).sizes == sizes) return self;
  const TensorType result{type(self).dtype, sizes};
  return graph_
      .add_op("aten.expand.default", {{"self", self}, {"size", std::move(sizes)}}, {result},
              std::move(name))
      .front();
}

ValueId Rewriter::slice(ValueId self, std::int64_t dim, Sym start, Sym end, std::int64_t step,
                        std::string name) {
  const Sym size = type(self).sizes[static_cast<std::size_t>(dim)];
  const SliceBounds bounds = slice_bounds(syms(), size, start, end, step);
  if (step == 1 && syms().is_constant(bounds.start, 0) && bounds.end == size) return self;
  return add("aten.slice.Tensor",
             {{"self", self},
              {"dim", syms().constant(dim)},
              {"start", bounds.start},
              {"end", bounds.end},
              {"step", syms().constant(step)}},
             std::move(name));
}

ValueId Rewriter::convert(ValueId self, DType dtype, std::string name) {
  if (type(self).dtype == dtype) return self;
  return add("aten._to_copy.default", {{"self", self}, {"dtype", dtype}}, std::move(name));
}

ValueId Rewriter::full(std::vector<Sym> sizes, ArgValue value, DType dtype, std::string name) {
  return add("aten.full.default",
             {{"size", std::move(sizes)}, {"fill_value", std::move(value)}, {"dtype", dtype}},
             std::move(name));
}

std::vector<Sym> Rewriter::constants(const std::vector<std::int64_t>& values) {
  std::vector<Sym> result;
  for (const std::int64_t value : values) result.push_back(syms().constant(value));
  return result;
}

}  // namespace breakeven
