#include <utility>

#include "compiler/ir/reference.h"
#include "compiler/runtime/extern_backend.h"

namespace breakeven {
namespace {

/// One op as a graph of its own, with the sizes of the call filled in.
class ReferenceOp final : public ExternOp {
 public:
  ReferenceOp(const Graph& graph, const Node& node) : syms_(graph.syms), node_(node) {
    for (const ValueId output : node.outputs) output_types_.push_back(graph.type(output));
  }

  Result<bool> run(std::span<const HostTensor* const> operands,
                   std::span<const std::int64_t> symbol_values,
                   std::span<HostTensor* const> outputs) override {
    Graph call("call");
    std::vector<ValueId> inputs;
    std::vector<HostTensor> values;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      TensorType type{operands[i]->dtype, {}};
      for (const std::int64_t size : operands[i]->sizes) {
        type.sizes.push_back(call.syms.constant(size));
      }
      inputs.push_back(call.add_input("x" + std::to_string(i), std::move(type)));
      values.push_back(*operands[i]);
    }
    std::vector<TensorType> types;
    for (const TensorType& recorded : output_types_) {
      TensorType type{recorded.dtype, {}};
      for (const Sym size : recorded.sizes) type.sizes.push_back(number(call, size, symbol_values));
      types.push_back(std::move(type));
    }
    std::vector<Arg> args;
    std::size_t next = 0;
    for (const Arg& arg : node_.args) {
      args.push_back({arg.name, rebind(arg.value, call, inputs, next, symbol_values)});
    }
    call.set_outputs(call.add_op(node_.op, std::move(args), std::move(types)));
    auto results = interpret_reference(call, {}, values);
    if (!results.ok()) return results.refusal();
    for (std::size_t i = 0; i < outputs.size(); ++i) *outputs[i] = std::move(results.value()[i]);
    return true;
  }

 private:
  Sym number(Graph& call, Sym size, std::span<const std::int64_t> symbol_values) const {
    return call.syms.constant(syms_.evaluate(size, symbol_values));
  }

  /// The argument in terms of `call`: operands are taken in order, symbols become numbers.
  ArgValue rebind(const ArgValue& value, Graph& call, const std::vector<ValueId>& inputs,
                  std::size_t& next, std::span<const std::int64_t> symbol_values) const {
    if (std::holds_alternative<ValueId>(value)) return inputs[next++];
    if (const auto* list = std::get_if<std::vector<ValueId>>(&value)) {
      std::vector<ValueId> bound;
      for (const ValueId id : *list) bound.push_back(id.valid() ? inputs[next++] : id);
      return bound;
    }
    if (const auto* sym = std::get_if<Sym>(&value)) return number(call, *sym, symbol_values);
    if (const auto* list = std::get_if<std::vector<Sym>>(&value)) {
      std::vector<Sym> bound;
      for (const Sym sym : *list) bound.push_back(number(call, sym, symbol_values));
      return bound;
    }
    return value;
  }

  SymContext syms_;
  Node node_;
  std::vector<TensorType> output_types_;
};

class ReferenceBackend final : public ExternBackend {
 public:
  Result<std::unique_ptr<ExternOp>> bind(const Graph& graph, const Node& node) override {
    return std::unique_ptr<ExternOp>(std::make_unique<ReferenceOp>(graph, node));
  }
};

}  // namespace

std::unique_ptr<ExternBackend> make_reference_backend() {
  return std::make_unique<ReferenceBackend>();
}

}  // namespace breakeven
