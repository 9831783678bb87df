#include <array>
#include <utility>

#include "compiler/passes/passes.h"
#include "compiler/support/check.h"
#include "compiler/support/error.h"

namespace breakeven {
namespace {

constexpr std::array kPasses = {
    Pass{"canonicalize", "One spelling for views, creations, conversions and dims.", canonicalize},
    Pass{"decompose", "Composite ops as pointwise ops and reductions; explicit conversions.",
         decompose},
    Pass{"fold_constants", "Ops on small literals computed at compile time.", fold_constants},
    Pass{"eliminate_dead", "Values that nothing uses dropped.", eliminate_dead},
};

}  // namespace

std::span<const Pass> pipeline() { return kPasses; }

Graph run_pipeline(Graph graph, std::vector<StageGraph>* stages) {
  const std::vector<std::string> faults = verify(graph);
  if (!faults.empty()) {
    std::vector<Diagnostic> diagnostics;
    for (const std::string& fault : faults) {
      diagnostics.push_back(
          {graph.name, 0, 0, fault, "", "Export the model again or correct its graph text."});
    }
    throw UserError(std::move(diagnostics));
  }
  for (const Pass& pass : pipeline()) {
    const Nanos start = now_ns();
    graph = pass.run(graph);
    const Nanos duration = now_ns() - start;
    const std::vector<std::string> broken = verify(graph);
    BE_CHECK(broken.empty(), "pass " << pass.name << ": " << broken.front());
    if (stages != nullptr) stages->push_back({std::string(pass.name), graph, duration});
  }
  return graph;
}

Graph specialize(const Graph& graph, std::span<const std::int64_t> symbol_values,
                 const std::vector<bool>& fixed) {
  const std::vector<Symbol>& symbols = graph.syms.symbols();
  BE_CHECK(symbol_values.size() == symbols.size() && fixed.size() == symbols.size(),
           symbol_values.size() << " values for " << symbols.size() << " symbols");
  Graph result(graph.name);
  std::vector<Sym> replacement;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const Symbol& symbol = symbols[i];
    replacement.push_back(fixed[i] ? result.syms.constant(symbol_values[i])
                                   : result.syms.symbol(symbol.name, symbol.range, symbol.hint));
  }
  const auto value_of = [&](Sym sym) { return result.syms.import(graph.syms, sym, replacement); };
  const auto type_of = [&](ValueId id) {
    TensorType type = graph.type(id);
    for (Sym& size : type.sizes) size = value_of(size);
    return type;
  };
  std::vector<ValueId> map(graph.values().size());
  const auto mapped = [&map](ValueId id) { return map[static_cast<std::size_t>(id.index)]; };
  for (const Node& node : graph.nodes()) {
    const auto first = static_cast<std::size_t>(node.outputs.front().index);
    switch (node.kind) {
      case NodeKind::kInput:
        map[first] = result.add_input(node.name, type_of(node.outputs.front()));
        continue;
      case NodeKind::kWeight:
        map[first] = result.add_weight(node.name, type_of(node.outputs.front()), node.init);
        continue;
      case NodeKind::kConstant:
        map[first] = result.add_constant(node.literal);
        continue;
      case NodeKind::kOp:
        break;
    }
    std::vector<Arg> args = node.args;
    for (Arg& arg : args) {
      if (auto* id = std::get_if<ValueId>(&arg.value)) *id = mapped(*id);
      if (auto* sym = std::get_if<Sym>(&arg.value)) *sym = value_of(*sym);
      if (auto* syms = std::get_if<std::vector<Sym>>(&arg.value)) {
        for (Sym& sym : *syms) sym = value_of(sym);
      }
      if (auto* ids = std::get_if<std::vector<ValueId>>(&arg.value)) {
        for (ValueId& id : *ids) id = id.valid() ? mapped(id) : id;
      }
    }
    std::vector<TensorType> types;
    for (const ValueId output : node.outputs) types.push_back(type_of(output));
    const std::vector<ValueId> outputs =
        result.add_op(node.op, std::move(args), std::move(types), node.name);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      map[static_cast<std::size_t>(node.outputs[i].index)] = outputs[i];
    }
  }
  std::vector<ValueId> outputs;
  for (const ValueId id : graph.outputs()) outputs.push_back(mapped(id));
  result.set_outputs(std::move(outputs));
  return result;
}

}  // namespace breakeven
