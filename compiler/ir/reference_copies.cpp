#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/ir/numeric.h"
#include "compiler/ir/reference_call.h"
#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

/// `index` as a position in [0, size); refuses what is outside.
std::int64_t checked_index(double index, std::int64_t size) {
  const auto at = static_cast<std::int64_t>(index);
  if (at < 0 || at >= size) {
    refuse("index " + std::to_string(at) + " outside [0, " + std::to_string(size) + ")");
  }
  return at;
}

RefOutputs ref_embedding(const RefCall& call) {
  const RefTensor& weight = call.tensor("weight");
  const RefTensor& indices = call.tensor("indices");
  RefTensor output = call.make_output();
  const std::int64_t width = weight.size(1);
  for (std::int64_t i = 0; i < indices.count(); ++i) {
    const std::int64_t row = checked_index(indices.at(i), weight.size(0));
    for (std::int64_t k = 0; k < width; ++k) output.at(i * width + k) = weight.at(row * width + k);
  }
  return {std::move(output)};
}

RefOutputs ref_index_select(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  const RefTensor& index = call.tensor("index");
  RefTensor output = call.make_output();
  if (self.rank() == 0) return {self};
  const auto d = static_cast<std::size_t>(call.dim("dim", self.rank(), 0));
  const std::int64_t outer = product(std::span(self.sizes).first(d));
  const std::int64_t inner = product(std::span(self.sizes).subspan(d + 1));
  std::int64_t flat = 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < index.count(); ++i) {
      const std::int64_t row = checked_index(index.at(i), self.sizes[d]);
      for (std::int64_t k = 0; k < inner; ++k) {
        output.at(flat++) = self.at((o * self.sizes[d] + row) * inner + k);
      }
    }
  }
  return {std::move(output)};
}

RefOutputs ref_gather(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  const RefTensor& index = call.tensor("index");
  RefTensor output = call.make_output();
  const std::int64_t dim = call.dim("dim", self.rank(), 0);
  for (std::int64_t flat = 0; flat < output.count(); ++flat) {
    std::int64_t rest = flat;
    std::int64_t at = 0;
    std::int64_t stride = 1;
    for (std::int64_t d = self.rank() - 1; d >= 0; --d) {
      std::int64_t position = rest % index.size(d);
      rest /= index.size(d);
      if (d == dim) position = checked_index(index.at(flat), self.size(d));
      at += position * stride;
      stride *= self.size(d);
    }
    output.at(flat) = self.at(at);
  }
  return {std::move(output)};
}

/// Integer index tensors that broadcast; see the type rule for where their dims stand.
RefOutputs ref_index(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  std::vector<const RefTensor*> indices = call.tensors("indices");
  indices.resize(self.sizes.size(), nullptr);
  RefTensor output = call.make_output();
  std::int64_t joint_rank = 0;
  std::int64_t first = -1;
  std::int64_t last = -1;
  std::int64_t indexed = 0;
  for (std::int64_t d = 0; d < self.rank(); ++d) {
    const RefTensor* index = indices[static_cast<std::size_t>(d)];
    if (index == nullptr) continue;
    if (index->dtype == DType::kBool) refuse("indexing by a mask has no reference");
    joint_rank = std::max(joint_rank, index->rank());
    first = first < 0 ? d : first;
    last = d;
    ++indexed;
  }
  const std::int64_t joint_at = last - first + 1 == indexed ? first : 0;
  std::vector<std::int64_t> position(output.sizes.size());
  for (std::int64_t flat = 0; flat < output.count(); ++flat) {
    std::int64_t rest = flat;
    for (std::size_t d = output.sizes.size(); d-- > 0;) {
      position[d] = rest % output.sizes[d];
      rest /= output.sizes[d];
    }
    std::int64_t at = 0;
    std::int64_t plain = 0;  // Output dim of the next dim that is not indexed.
    for (std::int64_t d = 0; d < self.rank(); ++d) {
      std::int64_t row = 0;
      if (const RefTensor* index = indices[static_cast<std::size_t>(d)]) {
        std::int64_t offset = 0;
        for (std::int64_t k = 0; k < index->rank(); ++k) {
          const std::int64_t out_dim = joint_at + joint_rank - index->rank() + k;
          const std::int64_t step =
              index->size(k) == 1 ? 0 : position[static_cast<std::size_t>(out_dim)];
          offset = offset * index->size(k) + step;
        }
        const double value = index->at(offset);
        row = checked_index(value < 0 ? value + static_cast<double>(self.size(d)) : value,
                            self.size(d));
      } else {
        if (plain == joint_at) plain += joint_rank;
        row = position[static_cast<std::size_t>(plain++)];
      }
      at = at * self.size(d) + row;
    }
    output.at(flat) = self.at(at);
  }
  return {std::move(output)};
}

RefOutputs ref_cat(const RefCall& call) {
  RefTensor output = call.make_output();
  const auto d = static_cast<std::size_t>(call.dim("dim", output.rank(), 0));
  const std::int64_t outer = product(std::span(output.sizes).first(d));
  const std::int64_t inner = product(std::span(output.sizes).subspan(d + 1));
  std::int64_t before = 0;
  for (const RefTensor* part : call.tensors("tensors")) {
    if (part == nullptr || (part->rank() == 1 && part->count() == 0)) continue;
    const std::int64_t count = part->sizes[d];
    std::vector<std::int64_t> expected = output.sizes;
    expected[d] = count;
    if (part->sizes != expected) refuse("cat of tensors whose other sizes differ");
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t i = 0; i < count * inner; ++i) {
        output.at((o * output.sizes[d] + before) * inner + i) = part->at(o * count * inner + i);
      }
    }
    before += count;
  }
  return {std::move(output)};
}

RefOutputs ref_stack(const RefCall& call) {
  RefTensor output = call.make_output();
  const auto d = static_cast<std::size_t>(call.dim("dim", output.rank(), 0));
  const std::int64_t inner = product(std::span(output.sizes).subspan(d + 1));
  const std::vector<const RefTensor*> parts = call.tensors("tensors");
  for (const RefTensor* part : parts) {
    if (part == nullptr || part->sizes != parts.front()->sizes) refuse("stack of different sizes");
  }
  for (std::int64_t flat = 0; flat < output.count(); ++flat) {
    const std::int64_t part = flat / inner % output.sizes[d];
    const std::int64_t outer = flat / inner / output.sizes[d];
    output.at(flat) = parts[static_cast<std::size_t>(part)]->at(outer * inner + flat % inner);
  }
  return {std::move(output)};
}

RefOutputs fill(const RefCall& call, double value) {
  RefTensor output = call.make_output();
  const double converted = is_floating(output.dtype) ? value : convert_to(output.dtype, value);
  std::fill(output.data.begin(), output.data.end(), converted);
  return {std::move(output)};
}

RefOutputs ref_full(const RefCall& call) {
  const std::optional<double> value = call.scalar("fill_value");
  if (!value) refuse("fill_value is missing");
  return fill(call, *value);
}

RefOutputs ref_zeros(const RefCall& call) { return fill(call, 0); }
RefOutputs ref_ones(const RefCall& call) { return fill(call, 1); }
RefOutputs ref_scalar_tensor(const RefCall& call) { return fill(call, call.number("s", 0)); }

RefOutputs ref_arange(const RefCall& call) {
  RefTensor output = call.make_output();
  const double start = call.number("start", 0);
  const double step = call.number("step", 1);
  for (std::int64_t i = 0; i < output.count(); ++i) {
    const double value = start + static_cast<double>(i) * step;
    output.at(i) = is_floating(output.dtype) ? value : convert_to(output.dtype, value);
  }
  return {std::move(output)};
}

/// to.dtype and its kin: a conversion as by _to_copy.
RefOutputs ref_convert(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  RefTensor output = call.make_output();
  const bool keeps = output.dtype == DType::kF32 || output.dtype == DType::kF64;
  for (std::int64_t i = 0; i < self.count(); ++i) {
    output.at(i) = keeps ? self.at(i) : convert_to(output.dtype, self.at(i));
  }
  return {std::move(output)};
}

}  // namespace

RefFn find_copy_reference(std::string_view op) {
  static const std::unordered_map<std::string_view, RefFn> kTable = {
      {"aten.embedding.default", ref_embedding},
      {"aten.index_select.default", ref_index_select},
      {"aten.gather.default", ref_gather},
      {"aten.index.Tensor", ref_index},
      {"aten.cat.default", ref_cat},
      {"aten.stack.default", ref_stack},
      {"aten.full.default", ref_full},
      {"aten.new_full.default", ref_full},
      {"aten.full_like.default", ref_full},
      {"aten.zeros.default", ref_zeros},
      {"aten.new_zeros.default", ref_zeros},
      {"aten.zeros_like.default", ref_zeros},
      {"aten.ones.default", ref_ones},
      {"aten.new_ones.default", ref_ones},
      {"aten.ones_like.default", ref_ones},
      {"aten.scalar_tensor.default", ref_scalar_tensor},
      {"aten.arange.default", ref_arange},
      {"aten.arange.start", ref_arange},
      {"aten.arange.start_step", ref_arange},
      {"aten.to.dtype", ref_convert},
      {"aten.to.dtype_layout", ref_convert},
      {"aten.to.device", ref_convert},
      {"aten.type_as.default", ref_convert},
  };
  const auto place = kTable.find(op);
  return place == kTable.end() ? nullptr : place->second;
}

}  // namespace breakeven
