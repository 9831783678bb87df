#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler/ir/numeric.h"
#include "compiler/ir/reference_call.h"
#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

/// An operand seen from the output's index space: a scalar, or a tensor with broadcast strides.
struct Operand {
  double scalar = 0;
  const RefTensor* tensor = nullptr;
  std::vector<std::int64_t> strides;  // One per output dim, 0 where broadcast.
};

Operand make_operand(const RefTensor& tensor, const RefTensor& output) {
  Operand operand;
  operand.tensor = &tensor;
  operand.strides.assign(output.sizes.size(), 0);
  if (tensor.rank() > output.rank()) refuse("an operand of higher rank than the output");
  const std::size_t added = output.sizes.size() - tensor.sizes.size();
  std::int64_t stride = 1;
  for (std::size_t d = tensor.sizes.size(); d-- > 0;) {
    if (tensor.sizes[d] != 1) operand.strides[added + d] = stride;
    if (tensor.sizes[d] != 1 && tensor.sizes[d] != output.sizes[added + d]) {
      refuse("an operand does not broadcast to the output");
    }
    stride *= tensor.sizes[d];
  }
  return operand;
}

/// The scalar as the op sees it: integers wrap to the compute dtype, some ops round to 16 bits.
double prepare_scalar(double value, DType compute, const OpRow& row) {
  if (is_integral(compute)) return wrap_integer(compute, value);
  const bool is_short = compute == DType::kF16 || compute == DType::kBF16;
  return is_short && row.rounds_scalars ? convert_to(compute, value) : value;
}

std::vector<Operand> read_operands(const RefCall& call, const OpRow& row, const RefTensor& output) {
  const DType compute =
      row.op_class == OpClass::kPointwise ? compute_dtype(call.graph(), call.node()) : output.dtype;
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < row.operands.size(); ++i) {
    Operand operand;
    if (const RefTensor* tensor = call.optional_tensor(row.operands[i])) {
      operand = make_operand(*tensor, output);
    } else if (const auto scalar = call.scalar(row.operands[i])) {
      operand.scalar = prepare_scalar(*scalar, compute, row);
    } else {
      const std::size_t required = row.operands.size() - row.defaults.size();
      if (i < required) refuse("argument " + std::string(row.operands[i]) + " is missing");
      operand.scalar = row.defaults[i - required];
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

double finish(double value, const RefTensor& output, const OpRow& row) {
  if (output.dtype == DType::kBool) return value != 0 ? 1 : 0;
  if (row.compute == ComputeRule::kConvert) {
    const bool keeps = output.dtype == DType::kF32 || output.dtype == DType::kF64;
    return keeps ? value : convert_to(output.dtype, value);
  }
  return is_integral(output.dtype) ? wrap_integer(output.dtype, value) : value;
}

}  // namespace

RefOutputs interpret_pointwise(const RefCall& call, const OpRow& row) {
  RefTensor output = call.make_output();
  const std::vector<Operand> operands = read_operands(call, row, output);
  const bool has_alpha = row.name.starts_with("aten.add.") || row.name.starts_with("aten.sub.") ||
                         row.name.starts_with("aten.rsub.");
  const double alpha = has_alpha ? call.number("alpha", 1) : 1;
  const bool divides = row.int_division && is_integral(output.dtype);
  const ReferenceFn fn = row.name == "aten.bitwise_not.default" && output.dtype == DType::kBool
                             ? find_op("aten.logical_not.default")->reference
                             : row.reference;
  // rsub scales what is subtracted, its first operand.
  const std::size_t scaled = row.name.starts_with("aten.rsub") ? 0 : 1;
  std::vector<double> x(operands.size());
  std::vector<std::int64_t> index(output.sizes.size(), 0);
  for (std::int64_t flat = 0; flat < output.count(); ++flat) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Operand& operand = operands[i];
      x[i] = operand.scalar;
      if (operand.tensor == nullptr) continue;
      std::int64_t offset = 0;
      for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * operand.strides[d];
      x[i] = operand.tensor->at(offset);
    }
    if (alpha != 1) x[scaled] *= alpha;
    if (divides && x[1] == 0) refuse("integer division by zero");
    output.at(flat) = finish(fn(x), output, row);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < output.sizes[d]) break;
      index[d] = 0;
    }
  }
  RefOutputs outputs;
  outputs.push_back(std::move(output));
  return outputs;
}

}  // namespace breakeven
