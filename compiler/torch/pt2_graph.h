#pragma once

#include <ATen/core/function_schema.h>

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compiler/torch/pt2_archive.h"
#include "compiler/torch/pt2_weights.h"
#include "compiler/torch/torch_backend.h"

namespace breakeven {

/// Turns the JSON of an exported program into a Graph with its weights. All errors are UserErrors
/// of the archive, or JSON exceptions where a field is missing or of the wrong kind.
class Pt2GraphReader {
 public:
  Pt2GraphReader(const Pt2Archive& archive, const nlohmann::json& program, Pt2Weights& weights);

  /// `dims`: {"input_ids": ["batch", "length"]}, names for the symbols of input sizes.
  ImportedModel read(std::string name, const nlohmann::json& dims);

 private:
  // Symbols (pt2_graph_symbols.cpp).
  void declare_symbols(const nlohmann::json& dims);
  void declare_symbol(const std::string& exported, const std::string& wanted, std::int64_t hint);
  Sym sym_of_text(const std::string& text);
  Sym sym_of(const nlohmann::json& sym_int);            ///< {"as_int"} or {"as_expr"}
  Sym sym_of_argument(const nlohmann::json& argument);  ///< {"as_int"} or {"as_name"}
  TensorType type_of(const std::string& name);

  // Arguments (pt2_graph_arguments.cpp).
  ArgValue argument_of(const nlohmann::json& argument, const std::string& place);
  /// A list of tensors; one that may be missing is an invalid id.
  std::vector<ValueId> tensor_list(bool all_present, const nlohmann::json& items,
                                   const std::string& place);
  ValueId value_of(const std::string& name, const std::string& place);
  ArgValue optional_tensor(const nlohmann::json& argument, const std::string& place);
  std::vector<Arg> arguments_of(const nlohmann::json& node, const c10::FunctionSchema& schema,
                                const std::string& place);

  // Inputs, nodes and outputs (pt2_graph.cpp).
  void add_inputs();
  void add_stored(const std::string& name, const std::string& path, bool may_fold);
  ValueId add_weight(const std::string& path, HostTensor tensor);
  void add_node(const nlohmann::json& node);
  void add_op(const nlohmann::json& node, std::string op, const std::string& place);
  /// The name that a value had before in-place ops gave it more.
  const std::string& owner_of(const std::string& name) const;
  std::string functional_form(const nlohmann::json& node, const std::string& op,
                              const c10::FunctionSchema& schema, std::string& written);
  void note_alias(const nlohmann::json& node, const c10::FunctionSchema& schema,
                  const std::vector<std::string>& outputs);
  std::vector<TensorType> output_types(const std::string& op, const std::vector<Arg>& args,
                                       const std::vector<std::string>& outputs,
                                       const std::string& place);
  void set_outputs();
  [[noreturn]] void refuse(const std::string& place, const std::string& what,
                           const std::string& value, const std::string& fix) const;

  const Pt2Archive& archive_;
  const nlohmann::json& program_;
  const nlohmann::json& graph_json_;
  const nlohmann::json& signature_;
  Pt2Weights& weights_;
  ImportedModel model_;
  std::map<std::string, Sym> symbols_;          ///< By name in the archive.
  std::map<std::string, ValueId> values_;       ///< By name in the archive.
  std::map<std::string, std::string> renamed_;  ///< Another name of a tensor -> its first.
  std::map<std::string, std::string> bases_;    ///< Name of a view -> name of what it views.
  std::map<std::string, ValueId> stored_;       ///< By Pt2Weights::Stored::identity.
};

}  // namespace breakeven
