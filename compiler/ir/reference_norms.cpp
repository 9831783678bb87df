#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "compiler/ir/reference_call.h"
#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

using Positions = std::vector<std::int64_t>;

struct Moments {
  double mean = 0;
  double variance = 0;  ///< Biased, about the mean: two passes.
};

Moments moments_of(const RefTensor& input, const Positions& row) {
  long double total = 0;
  for (const std::int64_t at : row) total += input.at(at);
  const double count = static_cast<double>(row.size());
  Moments moments;
  moments.mean = static_cast<double>(total) / count;
  long double squares = 0;
  for (const std::int64_t at : row) {
    const long double gap = static_cast<long double>(input.at(at)) - moments.mean;
    squares += gap * gap;
  }
  moments.variance = static_cast<double>(squares) / count;
  return moments;
}

/// weight[i] * x + bias[i], either may be missing.
double affine(double x, const RefTensor* weight, const RefTensor* bias, std::int64_t i) {
  if (weight != nullptr) x *= weight->at(i);
  if (bias != nullptr) x += bias->at(i);
  return x;
}

RefOutputs ref_softmax(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  RefTensor output = call.make_output();
  const bool is_log = call.node().op.find("log_softmax") != std::string::npos;
  const std::int64_t dim = call.dim("dim", self.rank(), -1);
  const Positions dims(self.rank() > 0 ? 1 : 0, dim);
  for (const Positions& row : rows_over(self.sizes, dims)) {
    double top = -std::numeric_limits<double>::infinity();
    for (const std::int64_t at : row) {
      top = std::isnan(self.at(at)) || self.at(at) > top ? self.at(at) : top;
    }
    long double total = 0;
    for (const std::int64_t at : row) total += std::exp(self.at(at) - top);
    for (const std::int64_t at : row) {
      const double shifted = self.at(at) - top;
      output.at(at) = is_log ? shifted - std::log(static_cast<double>(total))
                             : std::exp(shifted) / static_cast<double>(total);
    }
  }
  return {std::move(output)};
}

std::vector<std::int64_t> normalized_dims(const RefCall& call, const RefTensor& input) {
  const auto inner = static_cast<std::int64_t>(call.integers("normalized_shape").size());
  std::vector<std::int64_t> dims;
  for (std::int64_t d = input.rank() - inner; d < input.rank(); ++d) dims.push_back(d);
  return dims;
}

RefOutputs ref_layer_norm(const RefCall& call) {
  const RefTensor& input = call.tensor("input");
  const RefTensor* weight = call.optional_tensor("weight");
  const RefTensor* bias = call.optional_tensor("bias");
  const double eps = call.number("eps", 1e-5);
  RefOutputs outputs;
  for (std::size_t i = 0; i < call.node().outputs.size(); ++i) {
    outputs.push_back(call.make_output(i));
  }
  const auto rows = rows_over(input.sizes, normalized_dims(call, input));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Moments moments = moments_of(input, rows[r]);
    const double scale = 1 / std::sqrt(moments.variance + eps);
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      const double x = (input.at(rows[r][i]) - moments.mean) * scale;
      outputs[0].at(rows[r][i]) = affine(x, weight, bias, static_cast<std::int64_t>(i));
    }
    if (outputs.size() == 3) {
      outputs[1].data[r] = moments.mean;
      outputs[2].data[r] = scale;
    }
  }
  return outputs;
}

RefOutputs ref_rms_norm(const RefCall& call) {
  const RefTensor& input = call.tensor("input");
  const RefTensor* weight = call.optional_tensor("weight");
  const double eps = call.number("eps", rms_norm_eps(input.dtype));
  RefTensor output = call.make_output();
  for (const Positions& row : rows_over(input.sizes, normalized_dims(call, input))) {
    long double squares = 0;
    for (const std::int64_t at : row) {
      squares += static_cast<long double>(input.at(at)) * input.at(at);
    }
    const double mean = static_cast<double>(squares) / static_cast<double>(row.size());
    const double scale = 1 / std::sqrt(mean + eps);
    for (std::size_t i = 0; i < row.size(); ++i) {
      output.at(row[i]) =
          affine(input.at(row[i]) * scale, weight, nullptr, static_cast<std::int64_t>(i));
    }
  }
  return {std::move(output)};
}

RefOutputs ref_group_norm(const RefCall& call) {
  const RefTensor& input = call.tensor("input");
  const RefTensor* weight = call.optional_tensor("weight");
  const RefTensor* bias = call.optional_tensor("bias");
  const std::int64_t groups = call.integer("num_groups", 1);
  const double eps = call.number("eps", 1e-5);
  RefTensor output = call.make_output();
  const std::int64_t rows = input.size(0) * groups;
  const std::int64_t length = rows == 0 ? 0 : input.count() / rows;
  const std::int64_t channels = input.size(1) / groups;
  for (std::int64_t r = 0; r < rows; ++r) {
    Positions row;
    for (std::int64_t i = 0; i < length; ++i) row.push_back(r * length + i);
    const Moments moments = moments_of(input, row);
    const double scale = 1 / std::sqrt(moments.variance + eps);
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t channel = r % groups * channels + i / (length / channels);
      output.at(row[static_cast<std::size_t>(i)]) =
          affine((input.at(r * length + i) - moments.mean) * scale, weight, bias, channel);
    }
  }
  return {std::move(output)};
}

RefOutputs ref_batch_norm(const RefCall& call) {
  const RefTensor& input = call.tensor("input");
  if (call.boolean("training", false)) refuse("batch norm in training mode has no reference");
  const RefTensor& mean = call.tensor("running_mean");
  const RefTensor& variance = call.tensor("running_var");
  const RefTensor* weight = call.optional_tensor("weight");
  const RefTensor* bias = call.optional_tensor("bias");
  const double eps = call.number("eps", 1e-5);
  RefOutputs outputs;
  for (std::size_t i = 0; i < call.node().outputs.size(); ++i) {
    outputs.push_back(call.make_output(i));
  }
  const std::int64_t inner =
      product(std::span(input.sizes).subspan(std::min<std::size_t>(2, input.sizes.size())));
  for (std::int64_t i = 0; i < input.count(); ++i) {
    const std::int64_t channel = i / inner % input.size(1);
    const double x = (input.at(i) - mean.at(channel)) / std::sqrt(variance.at(channel) + eps);
    outputs[0].at(i) = affine(x, weight, bias, channel);
  }
  return outputs;
}

RefOutputs ref_mse(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  const RefTensor& target = call.tensor("target");
  if (self.sizes != target.sizes) refuse("mse_loss of broadcast operands has no reference");
  RefTensor output = call.make_output();
  const std::int64_t reduction = call.integer("reduction", 1);
  long double total = 0;
  for (std::int64_t i = 0; i < self.count(); ++i) {
    const double gap = self.at(i) - target.at(i);
    total += static_cast<long double>(gap) * gap;
    if (reduction == 0) output.at(i) = gap * gap;
  }
  if (reduction == 1)
    output.at(0) = static_cast<double>(total / static_cast<long double>(self.count()));
  if (reduction == 2) output.at(0) = static_cast<double>(total);
  return {std::move(output)};
}

RefOutputs ref_dropout(const RefCall& call) {
  if (call.boolean("train", false)) refuse("dropout in training mode has no reference");
  return {call.tensor("input")};
}

}  // namespace

RefFn find_norm_reference(std::string_view op) {
  static const std::unordered_map<std::string_view, RefFn> kTable = {
      {"aten.softmax.int", ref_softmax},
      {"aten._softmax.default", ref_softmax},
      {"aten.log_softmax.int", ref_softmax},
      {"aten._log_softmax.default", ref_softmax},
      {"aten.layer_norm.default", ref_layer_norm},
      {"aten.native_layer_norm.default", ref_layer_norm},
      {"aten.rms_norm.default", ref_rms_norm},
      {"aten.group_norm.default", ref_group_norm},
      {"aten.batch_norm.default", ref_batch_norm},
      {"aten._native_batch_norm_legit_no_training.default", ref_batch_norm},
      {"aten.mse_loss.default", ref_mse},
      {"aten.dropout.default", ref_dropout},
  };
  const auto place = kTable.find(op);
  return place == kTable.end() ? nullptr : place->second;
}

}  // namespace breakeven
