#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/support/text.h"
#include "compiler/torch/pt2_graph.h"
#include "compiler/torch/pt2_schema.h"
#include "compiler/torch/sympy_expr.h"

namespace breakeven {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;

/// The symbol when a size is one, with its value at export.
std::optional<std::pair<std::string, std::int64_t>> symbol_of(const nlohmann::json& size) {
  if (!size.contains("as_expr")) return std::nullopt;
  const auto& expression = size.at("as_expr");
  const auto name = lone_symbol(expression.at("expr_str").get<std::string>());
  if (!name) return std::nullopt;
  std::int64_t hint = 0;
  if (expression.contains("hint") && expression.at("hint").is_object() &&
      expression.at("hint").contains("as_int")) {
    hint = expression.at("hint").at("as_int").get<std::int64_t>();
  }
  return std::make_pair(*name, hint);
}

}  // namespace

void Pt2GraphReader::declare_symbol(const std::string& exported, const std::string& wanted,
                                    std::int64_t hint) {
  if (symbols_.contains(exported)) return;
  SymContext& syms = model_.graph.syms;
  std::string name = exported;
  if (SymContext::is_valid_symbol_name(wanted) && !syms.find_symbol(wanted)) name = wanted;
  if (!SymContext::is_valid_symbol_name(name) || syms.find_symbol(name)) {
    archive_.fail("the archive has a symbol with an unusable name", printable(exported, 60),
                  "Rename the dimension and export the model again.");
  }
  SymRange range;
  const auto& constraints = program_.at("range_constraints");
  if (constraints.contains(exported)) {
    const auto& constraint = constraints.at(exported);
    if (constraint.at("min_val").is_number()) {
      range.lo = std::max<std::int64_t>(0, constraint.at("min_val").get<std::int64_t>());
    }
    if (constraint.at("max_val").is_number())
      range.hi = constraint.at("max_val").get<std::int64_t>();
  }
  if (range.hi > kMaxSize) range.hi = SymRange::kUnbounded;
  if (range.lo > range.hi || range.lo > kMaxSize) {
    archive_.fail("the range of symbol '" + name + "' is empty",
                  std::to_string(range.lo) + ".." + std::to_string(range.hi),
                  "Export the model again with a range that holds at least one size.");
  }
  symbols_[exported] = syms.symbol(name, range, hint);
}

void Pt2GraphReader::declare_symbols(const nlohmann::json& dims) {
  for (const auto& spec : signature_.at("input_specs")) {
    if (!spec.contains("user_input")) continue;
    const auto& argument = spec.at("user_input").at("arg");
    if (!argument.contains("as_tensor")) continue;
    const auto input = argument.at("as_tensor").at("name").get<std::string>();
    const auto& sizes = graph_json_.at("tensor_values").at(input).at("sizes");
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      const auto symbol = symbol_of(sizes.at(axis));
      if (!symbol) continue;
      std::string wanted;
      if (dims.contains(input) && axis < dims.at(input).size() &&
          dims.at(input).at(axis).is_string()) {
        wanted = dims.at(input).at(axis).get<std::string>();
      }
      declare_symbol(symbol->first, wanted, symbol->second);
    }
  }
}

Sym Pt2GraphReader::sym_of_text(const std::string& text) {
  const SymbolLookup lookup = [this](const std::string& name) -> std::optional<Sym> {
    const auto found = symbols_.find(name);
    if (found == symbols_.end()) return std::nullopt;
    return found->second;
  };
  auto parsed = parse_sympy(model_.graph.syms, text, lookup);
  if (parsed.ok()) return parsed.value();
  archive_.fail(
      "a size cannot be computed from the sizes of the inputs (" + parsed.refusal().reason + ")",
      printable(text, 120),
      "Only sizes that follow from input sizes are supported; sizes that depend on data, "
      "and inputs whose size is an expression alone, are not.");
}

Sym Pt2GraphReader::sym_of(const nlohmann::json& sym_int) {
  if (!sym_int.contains("as_int")) {
    return sym_of_text(sym_int.at("as_expr").at("expr_str").get<std::string>());
  }
  const auto value = sym_int.at("as_int").get<std::int64_t>();
  return model_.graph.syms.constant(value);
}

Sym Pt2GraphReader::sym_of_argument(const nlohmann::json& argument) {
  if (argument.contains("as_int")) {
    return model_.graph.syms.constant(argument.at("as_int").get<std::int64_t>());
  }
  const auto name = argument.at("as_name").get<std::string>();
  return sym_of(graph_json_.at("sym_int_values").at(name));
}

TensorType Pt2GraphReader::type_of(const std::string& name) {
  const auto& meta = graph_json_.at("tensor_values").at(name);
  TensorType type;
  type.dtype = checked_dtype(archive_, meta, name);
  for (const auto& size : meta.at("sizes")) {
    const Sym sym = sym_of(size);
    const auto constant = model_.graph.syms.as_constant(sym);
    if (constant && (*constant < 0 || *constant > kMaxSize)) {
      archive_.fail("tensor '" + printable(name, 80) + "' has an impossible size",
                    std::to_string(*constant), "Export the model again.");
    }
    type.sizes.push_back(sym);
  }
  return type;
}

}  // namespace breakeven
