#include <set>
#include <string>
#include <type_traits>

#include "compiler/ir/graph.h"
#include "compiler/ir/op_table.h"

namespace breakeven {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), scratch_(graph) {}

  std::vector<std::string> run() {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) check_node(i);
    for (const ValueId id : graph_.outputs()) {
      if (!in_graph(id)) fault("an output of the graph is no value of it");
    }
    return std::move(faults_);
  }

 private:
  bool in_graph(ValueId id) const {
    return id.valid() && static_cast<std::size_t>(id.index) < graph_.values().size();
  }

  void fault(const std::string& text) { faults_.push_back(where_ + text); }

  void check_node(std::size_t index) {
    const Node& node = graph_.nodes()[index];
    where_ = "node " + std::to_string(index) + " (" +
             (node.kind == NodeKind::kOp ? node.op : node.name) + "): ";
    if (node.outputs.empty()) fault("no output");
    bool sound = true;
    for (const ValueId output : node.outputs) {
      if (!in_graph(output) || graph_.value(output).node != static_cast<std::int32_t>(index)) {
        fault("an output belongs to another node");
        sound = false;
        continue;
      }
      for (const Sym size : graph_.type(output).sizes) sound = check_sym(size) && sound;
    }
    if (node.kind == NodeKind::kInput && !inputs_.insert(node.name).second) {
      fault("two inputs have this name");
    }
    if (node.kind == NodeKind::kWeight && !weights_.insert(node.name).second) {
      fault("two weights have this name");
    }
    if (node.kind != NodeKind::kOp) return;
    sound = check_args(node, index) && sound;
    if (sound) check_types(node);
    where_.clear();
  }

  bool check_sym(Sym sym) {
    if (graph_.syms.is_valid(sym)) return true;
    fault("a symbolic size of another context");
    return false;
  }

  bool check_args(const Node& node, std::size_t index) {
    bool sound = true;
    for_each_operand(node, [&](ValueId id) {
      if (!in_graph(id) || graph_.value(id).node >= static_cast<std::int32_t>(index)) {
        fault("an operand does not come before its user");
        sound = false;
      }
    });
    for (const Arg& arg : node.args) {
      if (const auto* sym = std::get_if<Sym>(&arg.value)) sound = check_sym(*sym) && sound;
      if (const auto* syms = std::get_if<std::vector<Sym>>(&arg.value)) {
        for (const Sym sym : *syms) sound = check_sym(sym) && sound;
      }
    }
    return sound;
  }

  void check_types(const Node& node) {
    std::vector<TensorType> recorded;
    for (const ValueId output : node.outputs) recorded.push_back(graph_.type(output));
    for (const std::string& text : type_faults(scratch_, node.op, node.args, recorded)) fault(text);
  }

  const Graph& graph_;
  Graph scratch_;  // Type rules intern sizes; the graph under test stays untouched.
  std::string where_;
  std::vector<std::string> faults_;
  std::set<std::string> inputs_;
  std::set<std::string> weights_;
};

}  // namespace

std::vector<std::string> type_faults(Graph& graph, std::string_view op,
                                     const std::vector<Arg>& args,
                                     const std::vector<TensorType>& recorded) {
  const OpRow* row = find_op(op);
  if (row == nullptr || row->type_rule == nullptr) return {};
  const Result<std::vector<TensorType>> expected = row->type_rule(graph, args);
  if (!expected.ok()) {
    if (expected.refusal().code == "undecidable_shape") return {};
    return {expected.refusal().reason};
  }
  if (expected.value().size() != recorded.size()) {
    return {"has " + std::to_string(recorded.size()) + " outputs, its type rule gives " +
            std::to_string(expected.value().size())};
  }
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const TensorType& ruled = expected.value()[i];
    bool agree = recorded[i].dtype == ruled.dtype && recorded[i].sizes.size() == ruled.sizes.size();
    for (std::size_t d = 0; agree && d < ruled.sizes.size(); ++d) {
      agree = !graph.syms.is_provably_different(recorded[i].sizes[d], ruled.sizes[d]);
    }
    if (!agree) {
      faults.push_back("output " + std::to_string(i) + " is recorded as " +
                       to_string(graph, recorded[i]) + ", its type rule gives " +
                       to_string(graph, ruled));
    }
  }
  return faults;
}

std::vector<std::string> verify(const Graph& graph) { return Verifier(graph).run(); }

std::string to_string(const Graph& graph, const TensorType& type) {
  std::string text(name_of(type.dtype));
  text += '[';
  for (std::size_t i = 0; i < type.sizes.size(); ++i) {
    if (i > 0) text += ", ";
    text += graph.syms.to_string(type.sizes[i]);
  }
  return text + "]";
}

}  // namespace breakeven
