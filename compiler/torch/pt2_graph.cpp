#include "compiler/torch/pt2_graph.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/ir/op_table.h"
#include "compiler/support/error.h"
#include "compiler/support/text.h"
#include "compiler/torch/aten_op.h"
#include "compiler/torch/aten_tensor.h"
#include "compiler/torch/pt2_schema.h"

namespace breakeven {
namespace {

constexpr std::string_view kTorchOps = "torch.ops.";
constexpr std::int64_t kMaxLiteralElements = 64;

/// Names of the tensors that a node produces, lists flattened; an output that is no tensor gives
/// nothing.
std::vector<std::string> tensor_outputs(const nlohmann::json& node) {
  std::vector<std::string> names;
  for (const auto& output : node.at("outputs")) {
    if (output.contains("as_tensor")) {
      names.push_back(output.at("as_tensor").at("name").get<std::string>());
    } else if (output.contains("as_tensors")) {
      for (const auto& item : output.at("as_tensors")) {
        names.push_back(item.at("name").get<std::string>());
      }
    }
  }
  return names;
}

/// Name of the tensor given for an argument, "" when it is none.
std::string tensor_argument(const nlohmann::json& node, const std::string& argument) {
  for (const auto& input : node.at("inputs")) {
    if (input.at("name").get<std::string>() == argument && input.at("arg").contains("as_tensor")) {
      return input.at("arg").at("as_tensor").at("name").get<std::string>();
    }
  }
  return {};
}

/// What torch.export leaves of torch.tensor(...) and .detach(): in inference the operand itself.
bool is_identity(std::string_view op) {
  constexpr std::string_view kIdentities[] = {"aten.lift_fresh.default",
                                              "aten.lift_fresh_copy.default", "aten.detach.default",
                                              "aten.detach_.default", "aten.alias.default"};
  return std::find(std::begin(kIdentities), std::end(kIdentities), op) != std::end(kIdentities);
}

/// The order of dims in which a strided tensor is dense, outermost first.
std::vector<std::size_t> memory_order(const HostTensor& tensor) {
  std::vector<std::size_t> order(tensor.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tensor.strides[a] > tensor.strides[b];
  });
  return order;
}

HostTensor contiguous_copy(const HostTensor& tensor) {
  HostTensor copy = HostTensor::empty(tensor.dtype, tensor.sizes);
  borrow_tensor(copy).copy_(borrow_tensor(tensor));
  return copy;
}

}  // namespace

Pt2GraphReader::Pt2GraphReader(const Pt2Archive& archive, const nlohmann::json& program,
                               Pt2Weights& weights)
    : archive_(archive),
      program_(program),
      graph_json_(program.at("graph_module").at("graph")),
      signature_(program.at("graph_module").at("signature")),
      weights_(weights) {}

void Pt2GraphReader::refuse(const std::string& place, const std::string& what,
                            const std::string& value, const std::string& fix) const {
  archive_.fail(place + " " + what, value, fix);
}

ImportedModel Pt2GraphReader::read(std::string name, const nlohmann::json& dims) {
  const c10::InferenceMode inference;
  model_.graph.name = std::move(name);
  declare_symbols(dims);
  add_inputs();
  for (const auto& node : graph_json_.at("nodes")) add_node(node);
  set_outputs();
  const std::vector<std::string> faults = verify(model_.graph);
  if (!faults.empty()) {
    archive_.fail("the archive's graph is not sound (" + faults.front() + ")", "",
                  "Export the model again.");
  }
  return std::move(model_);
}

const std::string& Pt2GraphReader::owner_of(const std::string& name) const {
  const auto found = renamed_.find(name);
  return found == renamed_.end() ? name : found->second;
}

void Pt2GraphReader::add_inputs() {
  for (const auto& spec : signature_.at("input_specs")) {
    const std::string& kind = spec.begin().key();
    const auto& content = spec.begin().value();
    if (kind == "user_input") {
      const auto& argument = content.at("arg");
      if (argument.contains("as_tensor")) {
        const auto input = argument.at("as_tensor").at("name").get<std::string>();
        values_[input] = model_.graph.add_input(input, type_of(input));
      } else if (argument.contains("as_sym_int") || argument.contains("as_sym_float")) {
        archive_.fail("a model input is a number and no tensor", printable(argument.dump(), 80),
                      "Export the model with tensors as inputs.");
      }
    } else if (kind == "parameter" || kind == "buffer") {
      const auto field = kind == "parameter" ? "parameter_name" : "buffer_name";
      add_stored(content.at("arg").at("name").get<std::string>(),
                 content.at(field).get<std::string>(), false);
    } else if (kind == "tensor_constant") {
      add_stored(content.at("arg").at("name").get<std::string>(),
                 content.at("tensor_constant_name").get<std::string>(), true);
    } else if (kind != "constant_input") {
      archive_.fail("a model input is of a kind that is not supported", printable(kind, 40),
                    "Export the model with tensors as inputs.");
    }
  }
}

void Pt2GraphReader::add_stored(const std::string& name, const std::string& path, bool may_fold) {
  const Pt2Weights::Stored stored = weights_.load(path);
  const auto [place, is_new] = stored_.try_emplace(stored.identity);
  if (is_new) {
    const bool fold = may_fold && stored.tensor.element_count() <= kMaxLiteralElements;
    place->second = fold ? model_.graph.add_constant(contiguous_copy(stored.tensor))
                         : add_weight(path, stored.tensor);
  }
  values_[name] = place->second;
}

ValueId Pt2GraphReader::add_weight(const std::string& path, HostTensor tensor) {
  Graph& graph = model_.graph;
  const std::vector<std::size_t> order = memory_order(tensor);
  HostTensor dense = tensor;
  for (std::size_t i = 0; i < order.size(); ++i) {
    dense.sizes[i] = tensor.sizes[order[i]];
    dense.strides[i] = tensor.strides[order[i]];
  }
  const bool is_permuted = !tensor.is_contiguous() && dense.is_contiguous();
  if (!tensor.is_contiguous()) tensor = is_permuted ? dense : contiguous_copy(tensor);
  TensorType type{tensor.dtype, {}};
  for (const auto size : tensor.sizes) type.sizes.push_back(graph.syms.constant(size));
  const ValueId weight = graph.add_weight(path, type);
  model_.weights[path] = std::move(tensor);
  if (!is_permuted) return weight;
  // A transposed weight stays where it lies: dense in the graph, seen through a permutation.
  std::vector<Sym> dims(order.size());
  TensorType seen = type;
  for (std::size_t i = 0; i < order.size(); ++i) {
    dims[order[i]] = graph.syms.constant(static_cast<std::int64_t>(i));
    seen.sizes[order[i]] = type.sizes[i];
  }
  return graph.add_op("aten.permute.default", {{"self", weight}, {"dims", dims}}, {seen}).front();
}

void Pt2GraphReader::add_node(const nlohmann::json& node) {
  const auto target = node.at("target").get<std::string>();
  const std::vector<std::string> outputs = tensor_outputs(node);
  const std::string place = "node '" + printable(target, 80) + "'";
  if (!target.starts_with(kTorchOps)) {
    // Arithmetic on sizes: its value is read from the archive's own expression where it is used.
    if (outputs.empty()) return;
    refuse(place, "is no operator of the dispatcher", "", "Rewrite that call in the model.");
  }
  std::string op = target.substr(kTorchOps.size());
  if (op.starts_with("higher_order.")) {
    refuse(place, "runs a subgraph, which is not supported", "",
           "Remove torch.cond, while_loop or autocast regions from the model, or run it eagerly.");
  }
  if (std::count(op.begin(), op.end(), '.') == 1) op += ".default";
  add_op(node, std::move(op), place);
}

void Pt2GraphReader::add_op(const nlohmann::json& node, std::string op, const std::string& place) {
  const auto handle = find_operator(op);
  if (!handle.ok()) {
    // "torchvision::nms: no loaded library registers it; load torchvision".
    archive_.fail("the model uses an unknown operator", handle.refusal().reason,
                  "Load the library that registers it, or export the model without it.");
  }
  const c10::FunctionSchema* schema = &handle.value().schema();
  std::vector<std::string> outputs = tensor_outputs(node);
  if (is_identity(op) && outputs.size() == 1) {
    renamed_[outputs[0]] = owner_of(tensor_argument(node, "self"));
    return;
  }
  std::string written;
  std::optional<c10::OperatorHandle> functional;
  if (schema->is_mutable()) {
    op = functional_form(node, op, *schema, written);
    functional = find_operator(op).value();
    schema = &functional->schema();
  } else if (outputs.empty()) {
    return;  // Assertions on sizes and metadata; ranges are checked when symbols are bound.
  }
  std::vector<Arg> args = arguments_of(node, *schema, place);
  for (std::string& output : outputs) {
    if (!written.empty()) output = written;
  }
  if (outputs.empty()) outputs.push_back(written);
  std::vector<TensorType> types = output_types(op, args, outputs, place);
  std::string name;
  if (node.contains("name") && node.at("name").is_string()) name = node.at("name");
  const auto values = model_.graph.add_op(std::move(op), std::move(args), std::move(types), name);
  if (!written.empty()) {
    values_[written] = values.front();
    for (const std::string& alias : tensor_outputs(node)) renamed_[alias] = written;
    return;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) values_[outputs[i]] = values[i];
  note_alias(node, *schema, outputs);
}

std::string Pt2GraphReader::functional_form(const nlohmann::json& node, const std::string& op,
                                            const c10::FunctionSchema& schema,
                                            std::string& written) {
  const std::string place = "node '" + printable(op, 80) + "'";
  const std::size_t underscore = op.find("_.");
  std::string form = op;
  if (underscore != std::string::npos) form.erase(underscore, 1);
  const auto handle = find_operator(form);
  int writes = 0;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.alias_info() != nullptr && argument.alias_info()->isWrite()) {
      ++writes;
      written = owner_of(tensor_argument(node, argument.name()));
    }
  }
  if (form == op || !handle.ok() || handle.value().schema().is_mutable() || writes != 1 ||
      written.empty()) {
    refuse(place, "writes to its operands in a way that is not supported", "",
           "Use the form of the operator that returns its result.");
  }
  const bool shared = bases_.contains(written) ||
                      std::any_of(bases_.begin(), bases_.end(),
                                  [&](const auto& entry) { return entry.second == written; });
  if (shared || model_.graph.node_of(value_of(written, place)).kind != NodeKind::kOp) {
    refuse(place, "writes in place to a view, an input or a weight, which is not supported",
           printable(written, 60), "Use the form of the operator that returns its result.");
  }
  return form;
}

void Pt2GraphReader::note_alias(const nlohmann::json& node, const c10::FunctionSchema& schema,
                                const std::vector<std::string>& outputs) {
  // Dropout returns its operand in inference, which its schema does not say.
  const bool may_be_identity = schema.name().find("dropout") != std::string::npos;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.alias_info() == nullptr && !may_be_identity) continue;
    const std::string base = owner_of(tensor_argument(node, argument.name()));
    if (base.empty()) continue;
    for (const std::string& output : outputs) bases_[output] = base;
    return;
  }
}

std::vector<TensorType> Pt2GraphReader::output_types(const std::string& op,
                                                     const std::vector<Arg>& args,
                                                     const std::vector<std::string>& outputs,
                                                     const std::string& place) {
  std::vector<TensorType> types;
  for (const std::string& output : outputs) types.push_back(type_of(output));
  const OpRow* row = find_op(op);
  if (row == nullptr || row->type_rule == nullptr) return types;
  // The archive's sizes are simplified by what export proved; the rule's must agree with them.
  Graph& graph = model_.graph;
  const auto derived = row->type_rule(graph, args);
  if (!derived.ok()) {
    if (derived.refusal().code == "undecidable_shape") return types;
    refuse(place, "does not fit its operands", derived.refusal().reason, "Export the model again.");
  }
  bool agree = derived.value().size() == types.size();
  for (std::size_t i = 0; agree && i < types.size(); ++i) {
    const TensorType& rule = derived.value()[i];
    agree = rule.dtype == types[i].dtype && rule.sizes.size() == types[i].sizes.size();
    for (std::size_t axis = 0; agree && axis < rule.sizes.size(); ++axis) {
      agree = !graph.syms.is_provably_different(rule.sizes[axis], types[i].sizes[axis]);
    }
  }
  if (!agree) {
    refuse(place, "has another result type in the archive than its operands give",
           printable(outputs.front(), 60), "Export the model again.");
  }
  return types;
}

void Pt2GraphReader::set_outputs() {
  std::vector<ValueId> outputs;
  for (const auto& spec : signature_.at("output_specs")) {
    const std::string& kind = spec.begin().key();
    if (kind != "user_output") {
      archive_.fail(
          "the model has side effects, which are not supported (" + printable(kind, 40) + ")",
          printable(spec.dump(), 120),
          "Return the new value as an output instead of writing to a buffer or an input.");
    }
    const auto& argument = spec.at("user_output").at("arg");
    if (argument.contains("as_none")) continue;
    if (!argument.contains("as_tensor")) {
      archive_.fail("a model output is no tensor", printable(argument.dump(), 80),
                    "Return tensors alone.");
    }
    outputs.push_back(
        value_of(argument.at("as_tensor").at("name").get<std::string>(), "an output"));
  }
  if (outputs.empty()) {
    archive_.fail("the model has no output", "", "Return at least one tensor.");
  }
  model_.graph.set_outputs(std::move(outputs));
}

}  // namespace breakeven
