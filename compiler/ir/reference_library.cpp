#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "compiler/ir/reference_call.h"
#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

/// c[m, n] += scale * a[m, k] * b[k, n], each from its own offset.
struct MatrixProduct {
  std::int64_t m = 0, k = 0, n = 0;
  void add(const RefTensor& a, std::int64_t at_a, const RefTensor& b, std::int64_t at_b,
           RefTensor& c, std::int64_t at_c, double scale) const {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t p = 0; p < k; ++p) {
        const double x = scale * a.at(at_a + i * k + p);
        for (std::int64_t j = 0; j < n; ++j) {
          c.at(at_c + i * n + j) += x * b.at(at_b + p * n + j);
        }
      }
    }
  }
};

RefOutputs ref_linear(const RefCall& call) {
  const RefTensor& input = call.tensor("input");
  const RefTensor& weight = call.tensor("weight");
  const RefTensor* bias = call.optional_tensor("bias");
  RefTensor output = call.make_output();
  const std::int64_t n = weight.size(0);
  const std::int64_t k = weight.size(1);
  for (std::int64_t i = 0; i < output.count(); ++i) {
    const std::int64_t row = i / n;
    const std::int64_t column = i % n;
    double total = 0;
    for (std::int64_t p = 0; p < k; ++p) total += input.at(row * k + p) * weight.at(column * k + p);
    output.at(i) = total + (bias == nullptr ? 0 : bias->at(column));
  }
  return {std::move(output)};
}

/// A product of the last two dims; leading dims broadcast.
RefTensor matmul(const RefTensor& left, const RefTensor& right, RefTensor output, double scale) {
  RefTensor a = left;
  RefTensor b = right;
  std::vector<std::int64_t> batch = output.sizes;
  if (a.rank() == 1) {
    a.sizes.insert(a.sizes.begin(), 1);
  } else {
    batch.pop_back();
  }
  if (b.rank() == 1) {
    b.sizes.push_back(1);
  } else {
    batch.pop_back();
  }
  MatrixProduct shape{a.size(a.rank() - 2), a.size(a.rank() - 1), b.size(b.rank() - 1)};
  if (b.size(b.rank() - 2) != shape.k) refuse("inner sizes differ");
  const auto offset_of = [&batch](const RefTensor& t, std::int64_t item) {
    std::int64_t offset = 0;
    std::int64_t stride = t.size(t.rank() - 1) * t.size(t.rank() - 2);
    for (std::size_t d = batch.size(); d-- > 0;) {
      const std::int64_t index = item % batch[d];
      item /= batch[d];
      const std::int64_t own =
          static_cast<std::int64_t>(d) + t.rank() - 2 - static_cast<std::int64_t>(batch.size());
      if (own < 0) continue;
      if (t.size(own) != 1) offset += index * stride;
      stride *= t.size(own);
    }
    return offset;
  };
  const std::int64_t count = product(batch);
  for (std::int64_t item = 0; item < count; ++item) {
    shape.add(a, offset_of(a, item), b, offset_of(b, item), output, item * shape.m * shape.n,
              scale);
  }
  return output;
}

RefOutputs ref_mm(const RefCall& call) {
  return {matmul(call.tensor("self"), call.tensor("mat2"), call.make_output(), 1)};
}

RefOutputs ref_matmul(const RefCall& call) {
  return {matmul(call.tensor("self"), call.tensor("other"), call.make_output(), 1)};
}

/// beta * self + alpha * (a x b); beta 0 ignores self, NaN included.
RefOutputs ref_addmm(const RefCall& call) {
  const bool is_batched = call.node().op == "aten.baddbmm.default";
  const double beta = call.number("beta", 1);
  RefTensor output = call.make_output();
  if (beta != 0) {
    const RefTensor& self = call.tensor("self");
    for (std::int64_t flat = 0; flat < output.count(); ++flat) {
      std::int64_t rest = flat;
      std::int64_t at = 0;
      std::int64_t stride = 1;
      for (std::int64_t d = output.rank() - 1; d >= 0; --d) {
        const std::int64_t index = rest % output.size(d);
        rest /= output.size(d);
        const std::int64_t own = d + self.rank() - output.rank();
        if (own < 0) continue;
        at += (self.size(own) == 1 ? 0 : index) * stride;
        stride *= self.size(own);
      }
      output.at(flat) = beta * self.at(at);
    }
  }
  const RefTensor& a = call.tensor(is_batched ? "batch1" : "mat1");
  const RefTensor& b = call.tensor(is_batched ? "batch2" : "mat2");
  return {matmul(a, b, std::move(output), call.number("alpha", 1))};
}

/// Geometry of a window that slides over up to two spatial dims; a missing dim has size 1.
struct Window {
  std::int64_t input[2] = {1, 1}, kernel[2] = {1, 1}, output[2] = {1, 1};
  std::int64_t stride[2] = {1, 1}, padding[2] = {0, 0}, dilation[2] = {1, 1};

  /// Input position of tap (ky, kx) of output (y, x); -1 in the padding.
  std::int64_t position(std::int64_t y, std::int64_t x, std::int64_t ky, std::int64_t kx) const {
    const std::int64_t row = y * stride[0] - padding[0] + ky * dilation[0];
    const std::int64_t column = x * stride[1] - padding[1] + kx * dilation[1];
    if (row < 0 || row >= input[0] || column < 0 || column >= input[1]) return -1;
    return row * input[1] + column;
  }
};

void read_pairs(const RefCall& call, std::string_view name, std::size_t spatial,
                std::int64_t missing, std::int64_t (&out)[2]) {
  const std::vector<std::int64_t> list = call.integers(name);
  for (std::size_t i = 0; i < spatial; ++i) {
    out[2 - spatial + i] = list.empty() ? missing : list[std::min(i, list.size() - 1)];
  }
}

Window make_window(const RefCall& call, const RefTensor& input, const RefTensor& output,
                   std::size_t spatial) {
  Window window;
  for (std::size_t i = 0; i < spatial; ++i) {
    window.input[2 - spatial + i] = input.sizes[input.sizes.size() - spatial + i];
    window.output[2 - spatial + i] = output.sizes[output.sizes.size() - spatial + i];
  }
  read_pairs(call, "stride", spatial, 1, window.stride);
  read_pairs(call, "padding", spatial, 0, window.padding);
  read_pairs(call, "dilation", spatial, 1, window.dilation);
  return window;
}

double convolve_at(const Window& w, const RefTensor& input, std::int64_t at_input,
                   const RefTensor& weight, std::int64_t at_weight, std::int64_t y,
                   std::int64_t x) {
  double total = 0;
  for (std::int64_t ky = 0; ky < w.kernel[0]; ++ky) {
    for (std::int64_t kx = 0; kx < w.kernel[1]; ++kx) {
      const std::int64_t position = w.position(y, x, ky, kx);
      if (position < 0) continue;
      total += input.at(at_input + position) * weight.at(at_weight + ky * w.kernel[1] + kx);
    }
  }
  return total;
}

RefOutputs ref_convolution(const RefCall& call) {
  const RefTensor& input = call.tensor("input");
  const RefTensor& weight = call.tensor("weight");
  const RefTensor* bias = call.optional_tensor("bias");
  if (call.boolean("transposed", false)) refuse("transposed convolution has no reference");
  const auto spatial = static_cast<std::size_t>(input.rank() - 2);
  if (spatial < 1 || spatial > 2) refuse("convolution over other than 1 or 2 dims");
  RefTensor output = call.make_output();
  Window w = make_window(call, input, output, spatial);
  for (std::size_t i = 0; i < spatial; ++i) w.kernel[2 - spatial + i] = weight.sizes[2 + i];
  const std::int64_t groups = call.integer("groups", 1);
  const std::int64_t per_group_out = output.size(1) / groups;
  const std::int64_t per_group_in = weight.size(1);
  const std::int64_t area = w.input[0] * w.input[1];
  const std::int64_t taps = w.kernel[0] * w.kernel[1];
  std::int64_t flat = 0;
  for (std::int64_t image = 0; image < output.size(0); ++image) {
    for (std::int64_t channel = 0; channel < output.size(1); ++channel) {
      const std::int64_t first = channel / per_group_out * per_group_in;
      for (std::int64_t at = 0; at < w.output[0] * w.output[1]; ++at) {
        double total = bias == nullptr ? 0 : bias->at(channel);
        for (std::int64_t c = 0; c < per_group_in; ++c) {
          total +=
              convolve_at(w, input, (image * input.size(1) + first + c) * area, weight,
                          (channel * per_group_in + c) * taps, at / w.output[1], at % w.output[1]);
        }
        output.at(flat++) = total;
      }
    }
  }
  return {std::move(output)};
}

RefOutputs ref_pool(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  const bool is_max = call.node().op == "aten.max_pool2d.default";
  const bool counts_padding = call.boolean("count_include_pad", true);
  RefTensor output = call.make_output();
  Window w = make_window(call, self, output, 2);
  read_pairs(call, "kernel_size", 2, 1, w.kernel);
  if (call.integers("stride").empty()) read_pairs(call, "kernel_size", 2, 1, w.stride);
  const std::int64_t override = call.integer("divisor_override", 0);
  const std::int64_t out_area = w.output[0] * w.output[1];
  for (std::int64_t flat = 0; flat < output.count(); ++flat) {
    const std::int64_t plane = flat / out_area * w.input[0] * w.input[1];
    const std::int64_t at = flat % out_area;
    double best = -std::numeric_limits<double>::infinity();
    double total = 0;
    std::int64_t seen = 0;
    for (std::int64_t tap = 0; tap < w.kernel[0] * w.kernel[1]; ++tap) {
      const std::int64_t position =
          w.position(at / w.output[1], at % w.output[1], tap / w.kernel[1], tap % w.kernel[1]);
      if (position < 0) continue;
      const double x = self.at(plane + position);
      best = std::isnan(x) || x > best ? x : best;
      total += x;
      ++seen;
    }
    const std::int64_t divisor = override != 0    ? override
                                 : counts_padding ? w.kernel[0] * w.kernel[1]
                                                  : seen;
    output.at(flat) = is_max ? best : total / static_cast<double>(divisor);
  }
  return {std::move(output)};
}

RefOutputs ref_adaptive_pool(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  RefTensor output = call.make_output();
  const std::int64_t height = self.size(self.rank() - 2);
  const std::int64_t width = self.size(self.rank() - 1);
  const std::int64_t rows = output.size(output.rank() - 2);
  const std::int64_t columns = output.size(output.rank() - 1);
  for (std::int64_t flat = 0; flat < output.count(); ++flat) {
    const std::int64_t plane = flat / (rows * columns) * height * width;
    const std::int64_t y = flat / columns % rows;
    const std::int64_t x = flat % columns;
    double total = 0;
    std::int64_t seen = 0;
    for (std::int64_t i = y * height / rows; i < ((y + 1) * height + rows - 1) / rows; ++i) {
      for (std::int64_t j = x * width / columns; j < ((x + 1) * width + columns - 1) / columns;
           ++j) {
        total += self.at(plane + i * width + j);
        ++seen;
      }
    }
    output.at(flat) = total / static_cast<double>(seen);
  }
  return {std::move(output)};
}

/// Position in `mask` of the score (item, i, j); leading dims broadcast.
double mask_at(const RefTensor& mask, const std::vector<std::int64_t>& scores, std::int64_t flat) {
  std::int64_t at = 0;
  std::int64_t stride = 1;
  for (std::size_t d = scores.size(); d-- > 0;) {
    const std::int64_t index = flat % scores[d];
    flat /= scores[d];
    const std::int64_t own =
        static_cast<std::int64_t>(d) + mask.rank() - static_cast<std::int64_t>(scores.size());
    if (own < 0) continue;
    at += (mask.size(own) == 1 ? 0 : index) * stride;
    stride *= mask.size(own);
  }
  return mask.at(at);
}

/// softmax(q k^T scale + mask) v over the last two dims. Rows with every key masked are NaN for an
/// additive mask of -inf, and 0 for a bool one, as eager's math path gives.
RefOutputs ref_attention(const RefCall& call) {
  const RefTensor& q = call.tensor("query");
  const RefTensor& k = call.tensor("key");
  const RefTensor& v = call.tensor("value");
  const RefTensor* mask = call.optional_tensor("attn_mask");
  if (call.number("dropout_p", 0) != 0) refuse("attention with dropout has no reference");
  if (call.boolean("enable_gqa", false)) refuse("grouped-query attention has no reference");
  const bool is_causal = call.boolean("is_causal", false);
  RefTensor output = call.make_output();
  const std::int64_t rows = q.size(q.rank() - 2);
  const std::int64_t keys = k.size(k.rank() - 2);
  const std::int64_t depth = q.size(q.rank() - 1);
  const std::int64_t width = v.size(v.rank() - 1);
  const double scale = call.number("scale", 1 / std::sqrt(static_cast<double>(depth)));
  const std::int64_t heads = product(std::span(q.sizes).first(q.sizes.size() - 2));
  if (k.count() != heads * keys * depth || v.count() != heads * keys * width) {
    refuse("attention with broadcast heads has no reference");
  }
  std::vector<std::int64_t> score_sizes = q.sizes;
  score_sizes.back() = keys;
  std::vector<double> score(static_cast<std::size_t>(keys));
  for (std::int64_t row = 0; row < heads * rows; ++row) {
    const std::int64_t head = row / rows;
    double top = -std::numeric_limits<double>::infinity();
    for (std::int64_t j = 0; j < keys; ++j) {
      double x = 0;
      for (std::int64_t p = 0; p < depth; ++p) {
        x += q.at(row * depth + p) * k.at((head * keys + j) * depth + p);
      }
      x *= scale;
      if (mask != nullptr) {
        const double m = mask_at(*mask, score_sizes, row * keys + j);
        if (mask->dtype != DType::kBool) x += m;
        if (mask->dtype == DType::kBool && m == 0) x = -std::numeric_limits<double>::infinity();
      }
      if (is_causal && j > row % rows) x = -std::numeric_limits<double>::infinity();
      score[static_cast<std::size_t>(j)] = x;
      top = std::isnan(x) || x > top ? x : top;
    }
    if (std::isinf(top) && mask != nullptr && mask->dtype == DType::kBool) continue;
    double total = 0;
    for (double& x : score) total += x = std::exp(x - top);
    for (std::int64_t c = 0; c < width; ++c) {
      double sum = 0;
      for (std::int64_t j = 0; j < keys; ++j) {
        sum += score[static_cast<std::size_t>(j)] * v.at((head * keys + j) * width + c);
      }
      output.at(row * width + c) = sum / total;
    }
  }
  return {std::move(output)};
}

RefOutputs ref_triangle(const RefCall& call) {
  RefTensor output = call.tensor("self");
  const bool keeps_lower = call.node().op == "aten.tril.default";
  const std::int64_t diagonal = call.integer("diagonal", 0);
  const std::int64_t rows = output.size(output.rank() - 2);
  const std::int64_t columns = output.size(output.rank() - 1);
  for (std::int64_t i = 0; i < output.count(); ++i) {
    const std::int64_t distance = i % columns - i / columns % rows;
    if (keeps_lower ? distance > diagonal : distance < diagonal) output.at(i) = 0;
  }
  return {std::move(output)};
}

}  // namespace

RefFn find_library_reference(std::string_view op) {
  static const std::unordered_map<std::string_view, RefFn> kTable = {
      {"aten.linear.default", ref_linear},
      {"aten.mm.default", ref_mm},
      {"aten.bmm.default", ref_mm},
      {"aten.matmul.default", ref_matmul},
      {"aten.addmm.default", ref_addmm},
      {"aten.baddbmm.default", ref_addmm},
      {"aten.conv1d.default", ref_convolution},
      {"aten.conv2d.default", ref_convolution},
      {"aten.convolution.default", ref_convolution},
      {"aten.max_pool2d.default", ref_pool},
      {"aten.avg_pool2d.default", ref_pool},
      {"aten.adaptive_avg_pool2d.default", ref_adaptive_pool},
      {"aten.scaled_dot_product_attention.default", ref_attention},
      {"aten.tril.default", ref_triangle},
      {"aten.triu.default", ref_triangle},
  };
  const auto place = kTable.find(op);
  return place == kTable.end() ? nullptr : place->second;
}

}  // namespace breakeven
