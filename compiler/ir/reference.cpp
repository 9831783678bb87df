#include "compiler/ir/reference.h"

#include <utility>

#include "compiler/ir/numeric.h"
#include "compiler/ir/reference_call.h"
#include "compiler/ir/type_rules.h"
#include "compiler/support/check.h"

namespace breakeven {
namespace {

RefTensor from_host(const HostTensor& tensor) {
  RefTensor result = make_ref(tensor.dtype, tensor.sizes);
  for (std::int64_t i = 0; i < result.count(); ++i) result.at(i) = element_as_double(tensor, i);
  return result;
}

HostTensor to_host(const RefTensor& tensor, ReferenceOutput output) {
  const bool widen = output == ReferenceOutput::kF64 && is_floating(tensor.dtype);
  HostTensor result = HostTensor::empty(widen ? DType::kF64 : tensor.dtype, tensor.sizes);
  auto* bytes = result.as<unsigned char>();
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    encode_element(result.dtype, tensor.at(i), bytes + i * size_of(result.dtype));
  }
  return result;
}

RefFn find_reference(std::string_view op) {
  for (auto* find : {find_view_reference, find_copy_reference, find_reduction_reference,
                     find_norm_reference, find_library_reference}) {
    if (const RefFn fn = find(op)) return fn;
  }
  return nullptr;
}

RefOutputs interpret_op(const RefCall& call) {
  const Node& node = call.node();
  const OpRow* row = find_op(node.op);
  if (row == nullptr) throw RuleRefusal{{"no_reference", node.op + " has no reference"}};
  if (row->reference != nullptr) return interpret_pointwise(call, *row);
  if (row->combine != Combine::kNone) return interpret_fold(call, *row);
  const RefFn fn = find_reference(node.op);
  if (fn == nullptr) throw RuleRefusal{{"no_reference", node.op + " has no reference"}};
  return fn(call);
}

/// Refuses outputs whose sizes differ from the declared ones: a size that was left open at export.
void check_sizes(const RefCall& call, const RefOutputs& outputs) {
  BE_CHECK(outputs.size() == call.node().outputs.size(), call.node().op);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].sizes != call.make_output(i).sizes)
      refuse("sizes differ from the declared ones");
  }
}

RefTensor weight_value(const Graph& graph, const Node& node, const WeightMap& weights,
                       std::span<const std::int64_t> symbol_values) {
  const auto place = weights.find(node.name);
  if (place == weights.end()) {
    throw RuleRefusal{{"missing_weight", "weight '" + node.name + "' is not bound"}};
  }
  const TensorType& type = graph.type(node.outputs.front());
  std::vector<std::int64_t> sizes;
  for (const Sym size : type.sizes) sizes.push_back(graph.syms.evaluate(size, symbol_values));
  if (place->second.dtype != type.dtype || place->second.sizes != sizes) {
    throw RuleRefusal{
        {"bad_weight", "weight '" + node.name + "' is not of type " + to_string(graph, type)}};
  }
  return from_host(place->second);
}

std::vector<HostTensor> interpret(const Graph& graph, const WeightMap& weights,
                                  std::span<const HostTensor> inputs,
                                  std::span<const std::int64_t> symbol_values,
                                  ReferenceOutput output) {
  std::vector<RefTensor> values(graph.values().size());
  std::size_t next_input = 0;
  for (const Node& node : graph.nodes()) {
    const auto first = static_cast<std::size_t>(node.outputs.front().index);
    switch (node.kind) {
      case NodeKind::kInput:
        values[first] = from_host(inputs[next_input++]);
        break;
      case NodeKind::kConstant:
        values[first] = from_host(node.literal);
        break;
      case NodeKind::kWeight:
        values[first] = weight_value(graph, node, weights, symbol_values);
        break;
      case NodeKind::kOp: {
        const RefCall call(graph, node, symbol_values, values);
        try {
          RefOutputs outputs = interpret_op(call);
          check_sizes(call, outputs);
          for (std::size_t i = 0; i < outputs.size(); ++i) {
            values[static_cast<std::size_t>(node.outputs[i].index)] = std::move(outputs[i]);
          }
        } catch (RuleRefusal& refusal) {
          refusal.refusal.reason = node.op + ": " + refusal.refusal.reason;
          throw;
        }
        break;
      }
    }
  }
  std::vector<HostTensor> outputs;
  for (const ValueId id : graph.outputs()) {
    outputs.push_back(to_host(values[static_cast<std::size_t>(id.index)], output));
  }
  return outputs;
}

}  // namespace

Result<std::vector<std::int64_t>> bind_symbols(const Graph& graph,
                                               std::span<const HostTensor> inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return Refusal{"input_count", "the model has " + std::to_string(graph.inputs().size()) +
                                      " inputs, " + std::to_string(inputs.size()) + " were given"};
  }
  const std::vector<Symbol>& symbols = graph.syms.symbols();
  std::vector<std::int64_t> values(symbols.size(), 0);
  std::vector<bool> is_bound(symbols.size(), false);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& type = graph.type(graph.inputs()[i]);
    const std::string name = "input '" + graph.node_of(graph.inputs()[i]).name + "'";
    if (inputs[i].dtype != type.dtype || inputs[i].sizes.size() != type.sizes.size()) {
      return Refusal{"input_type", name + " is a " + std::string(name_of(inputs[i].dtype)) +
                                       " of rank " + std::to_string(inputs[i].sizes.size()) +
                                       ", the model wants " + to_string(graph, type)};
    }
    for (std::size_t d = 0; d < type.sizes.size(); ++d) {
      const std::optional<int> symbol = graph.syms.symbol_index(type.sizes[d]);
      if (!symbol || is_bound[static_cast<std::size_t>(*symbol)]) continue;
      is_bound[static_cast<std::size_t>(*symbol)] = true;
      values[static_cast<std::size_t>(*symbol)] = inputs[i].sizes[d];
    }
  }
  for (std::size_t s = 0; s < symbols.size(); ++s) {
    if (!is_bound[s]) {  // A symbol that no input carries has one value or none.
      if (symbols[s].range.lo != symbols[s].range.hi) {
        values[s] = symbols[s].hint;
        continue;
      }
      values[s] = symbols[s].range.lo;
    } else if (values[s] < symbols[s].range.lo || values[s] > symbols[s].range.hi) {
      return Refusal{"size_out_of_range", symbols[s].name + " is " + std::to_string(values[s]) +
                                              ", outside [" + std::to_string(symbols[s].range.lo) +
                                              ", " + std::to_string(symbols[s].range.hi) + "]"};
    }
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& type = graph.type(graph.inputs()[i]);
    for (std::size_t d = 0; d < type.sizes.size(); ++d) {
      const std::int64_t wanted = graph.syms.evaluate(type.sizes[d], values);
      if (inputs[i].sizes[d] == wanted) continue;
      return Refusal{"size_mismatch", "input '" + graph.node_of(graph.inputs()[i]).name +
                                          "' has size " + std::to_string(inputs[i].sizes[d]) +
                                          " in dim " + std::to_string(d) + ", " +
                                          graph.syms.to_string(type.sizes[d]) + " is " +
                                          std::to_string(wanted)};
    }
  }
  return values;
}

Result<std::vector<HostTensor>> interpret_reference(const Graph& graph, const WeightMap& weights,
                                                    std::span<const HostTensor> inputs,
                                                    ReferenceOutput output) {
  const Result<std::vector<std::int64_t>> symbol_values = bind_symbols(graph, inputs);
  if (!symbol_values.ok()) return symbol_values.refusal();
  try {
    return interpret(graph, weights, inputs, symbol_values.value(), output);
  } catch (const RuleRefusal& refusal) {
    return refusal.refusal;
  }
}

}  // namespace breakeven
