#include "compiler/ir/op_table.h"

#include <unordered_map>
#include <utility>

#include "compiler/ir/type_rules.h"
#include "compiler/support/check.h"

namespace breakeven {
namespace {

struct Table {
  std::vector<OpRow> rows;
  std::unordered_map<std::string_view, const OpRow*> by_name;
};

/// Built once, never changed.
const Table& table() {
  static const Table built = [] {
    Table result;
    for (auto* part :
         {pointwise_rows, reduction_rows, view_rows, copy_rows, composite_rows, library_rows}) {
      for (OpRow& row : part()) result.rows.push_back(std::move(row));
    }
    for (const OpRow& row : result.rows) {
      BE_CHECK(result.by_name.emplace(row.name, &row).second, row.name << " has two rows");
    }
    return result;
  }();
  return built;
}

bool is_zero(const Graph& graph, const ArgValue& value) {
  if (const auto* integer = std::get_if<Sym>(&value)) {
    const SymRange range = graph.syms.range(*integer);
    return range.lo <= 0 && range.hi >= 0;
  }
  if (const auto* flag = std::get_if<bool>(&value)) return !*flag;
  return false;
}

/// True when an integer division by `divisor` may have to raise an error.
bool may_divide_by_zero(const Graph& graph, const Node& node, const OpRow& row) {
  if (is_floating(compute_dtype(graph, node))) return false;
  const ArgValue* divisor = find_arg(node, row.operands[1]);
  return divisor == nullptr || std::holds_alternative<ValueId>(*divisor) ||
         is_zero(graph, *divisor);
}

bool is_integer_division(const Graph& graph, const Node& node, const OpRow& row) {
  if (!row.int_division || is_floating(compute_dtype(graph, node))) return false;
  if (!row.name.ends_with("_mode")) return may_divide_by_zero(graph, node, row);
  const ArgValue* mode = find_arg(node, "rounding_mode");
  const auto* text = mode == nullptr ? nullptr : std::get_if<std::string>(mode);
  if (text == nullptr) return false;  // True division gives floats.
  return *text == "trunc" || may_divide_by_zero(graph, node, row);
}

bool is_flag_set(const Node& node, std::string_view name) {
  const ArgValue* value = find_arg(node, name);
  const auto* flag = value == nullptr ? nullptr : std::get_if<bool>(value);
  return flag != nullptr && *flag;
}

}  // namespace

const OpRow* find_op(std::string_view name) {
  const auto place = table().by_name.find(name);
  return place == table().by_name.end() ? nullptr : place->second;
}

std::span<const OpRow> op_table() { return table().rows; }

OpClass class_of(const Graph& graph, const Node& node) {
  const OpRow* row = find_op(node.op);
  if (row == nullptr) return OpClass::kExtern;
  if (is_integer_division(graph, node, *row)) return OpClass::kExtern;
  // Random numbers and batch statistics stay with the library.
  if (row->name == "aten.dropout.default" && is_flag_set(node, "train")) return OpClass::kExtern;
  if (row->name == "aten.batch_norm.default" && is_flag_set(node, "training")) {
    return OpClass::kExtern;
  }
  // Integer powers need a loop, and their negative exponents an error.
  if (row->name.starts_with("aten.pow.") && !is_floating(compute_dtype(graph, node))) {
    return OpClass::kExtern;
  }
  const bool is_byte_logic = (row->combine == Combine::kAny || row->combine == Combine::kAll) &&
                             graph.type(node.outputs.front()).dtype == DType::kU8;
  return is_byte_logic ? OpClass::kExtern : row->op_class;
}

DType compute_dtype(const Graph& graph, const Node& node) {
  const OpRow* row = find_op(node.op);
  BE_CHECK(row != nullptr && !row->operands.empty(), node.op);
  std::vector<std::string_view> names = row->operands;
  if (row->compute == ComputeRule::kSelf || row->compute == ComputeRule::kConvert) {
    names.resize(1);
  } else if (row->compute == ComputeRule::kWhere) {
    names.erase(names.begin());
  } else if (row->name.ends_with("_mode")) {
    names.resize(2);
  }
  const DType dtype = promoted(graph, node.args, names);
  return row->compute == ComputeRule::kFloat ? to_floating(dtype) : dtype;
}

Result<std::vector<ValueId>> add_checked(Graph& graph, std::string op, std::vector<Arg> args,
                                         std::string name) {
  const OpRow* row = find_op(op);
  if (row == nullptr) return Refusal{"unknown_op", op + " has no row in the op table"};
  Result<std::vector<TensorType>> types = row->type_rule(graph, args);
  if (!types.ok()) return Refusal{types.refusal().code, op + ": " + types.refusal().reason};
  return graph.add_op(std::move(op), std::move(args), std::move(types).value(), std::move(name));
}

}  // namespace breakeven
