#include "compiler/passes/emitter.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/numeric.h"
#include "compiler/ir/op_table.h"
#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

bool is_short_float(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

/// The args with every tensor operand converted to the compute dtype.
void convert_operands(Rewriter& r, const OpRow& row, const std::string& op,
                      std::vector<Arg>& args) {
  Node probe;
  probe.op = op;
  probe.args = args;
  const DType compute = compute_dtype(r.graph(), probe);
  for (Arg& arg : args) {
    const auto place = std::find(row.operands.begin(), row.operands.end(), arg.name);
    if (place == row.operands.end()) continue;
    const bool is_condition = row.compute == ComputeRule::kWhere && arg.name == "condition";
    if (auto* id = std::get_if<ValueId>(&arg.value)) {
      if (!is_condition) *id = r.convert(*id, compute);
    } else if (row.rounds_scalars && is_short_float(compute)) {
      if (auto* real = std::get_if<double>(&arg.value)) *real = convert_to(compute, *real);
    }
  }
}

}  // namespace

ValueId add_converted(Rewriter& r, std::string op, std::vector<Arg> args, const Node* like,
                      std::string name) {
  const OpRow* row = find_op(op);
  if (row != nullptr && row->op_class == OpClass::kPointwise &&
      row->compute != ComputeRule::kConvert) {
    convert_operands(r, *row, op, args);
  }
  if (like != nullptr) return r.add_like(*like, std::move(op), std::move(args));
  return r.add(std::move(op), std::move(args), std::move(name));
}

std::string Emitter::named(std::string_view part) const {
  if (node_.name.empty() || part.empty()) return node_.name;
  return node_.name + "." + std::string(part);
}

ValueId Emitter::op(std::string op, std::vector<Arg> args, std::string_view part) {
  return add_converted(r_, std::move(op), std::move(args), nullptr, named(part));
}

ValueId Emitter::unary(std::string_view name, ValueId x, std::string_view part) {
  return op("aten." + std::string(name) + ".default", {{"self", x}}, part);
}

ValueId Emitter::binary(std::string_view name, ValueId x, const ArgValue& y,
                        std::string_view part) {
  const bool is_tensor = std::holds_alternative<ValueId>(y);
  return op("aten." + std::string(name) + (is_tensor ? ".Tensor" : ".Scalar"),
            {{"self", x}, {"other", y}}, part);
}

ValueId Emitter::reduce(std::string_view name, ValueId x, const std::vector<std::int64_t>& dims,
                        std::string_view part) {
  const std::string op_name =
      name == "sum" ? "aten.sum.dim_IntList" : "aten." + std::string(name) + ".default";
  return op(op_name, {{"self", x}, {"dim", r_.constants(dims)}, {"keepdim", true}}, part);
}

ValueId Emitter::mean(ValueId x, const std::vector<std::int64_t>& dims, std::string_view part) {
  Sym count = r_.syms().constant(1);
  for (const std::int64_t dim : dims) {
    count = r_.syms().mul(count, r_.type(x).sizes[static_cast<std::size_t>(dim)]);
  }
  const std::string total = part.empty() ? "sum" : std::string(part) + ".sum";
  return binary("div", reduce("sum", x, dims, total), count, part);
}

ValueId Emitter::where(ValueId condition, const ArgValue& x, const ArgValue& y,
                       std::string_view part) {
  const bool x_is_tensor = std::holds_alternative<ValueId>(x);
  const bool y_is_tensor = std::holds_alternative<ValueId>(y);
  const char* overload = x_is_tensor   ? (y_is_tensor ? "self" : "ScalarOther")
                         : y_is_tensor ? "ScalarSelf"
                                       : "Scalar";
  return op(std::string("aten.where.") + overload,
            {{"condition", condition}, {"self", x}, {"other", y}}, part);
}

ValueId Emitter::widened(ValueId x) {
  return is_short_float(r_.type(x).dtype) ? r_.convert(x, DType::kF32) : x;
}

void Emitter::finish(ValueId result, std::size_t i) {
  const TensorType& declared = r_.source().type(node_.outputs[i]);
  result = r_.convert(result, declared.dtype, named(""));
  r_.replace(node_, i, r_.view(result, declared.sizes, named("")));
}

}  // namespace breakeven
