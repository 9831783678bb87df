#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "compiler/ir/reference_call.h"
#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

/// The same elements in the same order under the declared sizes.
RefOutputs ref_same_elements(const RefCall& call) {
  RefTensor output = call.make_output();
  const RefTensor& self = call.tensor("self");
  if (output.count() != self.count()) refuse("the view has another number of elements");
  output.data = self.data;
  return {std::move(output)};
}

RefTensor permuted(const RefTensor& self, const std::vector<std::int64_t>& dims, RefTensor output) {
  std::vector<std::int64_t> strides(self.sizes.size(), 1);
  for (std::size_t d = self.sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * self.sizes[d];
  for (std::int64_t flat = 0; flat < output.count(); ++flat) {
    std::int64_t rest = flat;
    std::int64_t source = 0;
    for (std::size_t d = dims.size(); d-- > 0;) {
      source += rest % output.sizes[d] * strides[static_cast<std::size_t>(dims[d])];
      rest /= output.sizes[d];
    }
    output.at(flat) = self.at(source);
  }
  return output;
}

RefOutputs ref_permute(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  std::vector<std::int64_t> dims = call.integers("dims");
  for (std::int64_t& dim : dims) dim = wrap_dim(dim, self.sizes.size());
  return {permuted(self, dims, call.make_output())};
}

RefOutputs ref_transpose(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  if (self.rank() == 0) return {self};
  std::vector<std::int64_t> dims(self.sizes.size());
  std::iota(dims.begin(), dims.end(), 0);
  std::int64_t first = 0;
  std::int64_t second = self.rank() - 1;  // t: of at most two dims.
  if (call.node().op == "aten.transpose.int") {
    first = call.dim("dim0", self.rank(), 0);
    second = call.dim("dim1", self.rank(), 0);
  }
  std::swap(dims[static_cast<std::size_t>(first)], dims[static_cast<std::size_t>(second)]);
  return {permuted(self, dims, call.make_output())};
}

/// Copies `source` to every place of `output` that broadcasts to it.
RefTensor expanded(const RefTensor& source, RefTensor output) {
  const std::size_t added = output.sizes.size() - source.sizes.size();
  for (std::int64_t flat = 0; flat < output.count(); ++flat) {
    std::int64_t rest = flat;
    std::int64_t at = 0;
    std::int64_t stride = 1;
    for (std::size_t d = output.sizes.size(); d-- > 0;) {
      const std::int64_t index = rest % output.sizes[d];
      rest /= output.sizes[d];
      if (d < added) continue;
      const std::int64_t size = source.sizes[d - added];
      if (size != 1 && size != output.sizes[d]) refuse("a dim that is not 1 does not expand");
      at += (size == 1 ? 0 : index) * stride;
      stride *= size;
    }
    output.at(flat) = source.at(at);
  }
  return output;
}

RefOutputs ref_expand(const RefCall& call) {
  return {expanded(call.tensor("self"), call.make_output())};
}

RefOutputs ref_copy(const RefCall& call) {
  return {expanded(call.tensor("src"), call.make_output())};
}

/// `count` items along `dim` from `start` by `step`, under the sizes of `output`.
RefTensor sliced(const RefTensor& self, std::int64_t dim, std::int64_t start, std::int64_t step,
                 std::int64_t count, RefTensor output) {
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t outer = product(std::span(self.sizes).first(d));
  const std::int64_t inner = product(std::span(self.sizes).subspan(d + 1));
  if (count > 0 && (start < 0 || start + (count - 1) * step >= self.sizes[d])) {
    refuse("an index outside the dim");
  }
  if (outer * count * inner != output.count()) refuse("sizes differ from the declared ones");
  std::int64_t flat = 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t from = (o * self.sizes[d] + start + i * step) * inner;
      for (std::int64_t k = 0; k < inner; ++k) output.at(flat++) = self.at(from + k);
    }
  }
  return output;
}

RefOutputs ref_slice(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  const std::int64_t dim = call.dim("dim", self.rank(), 0);
  const std::int64_t size = self.size(dim);
  const auto clamp = [size](std::int64_t bound) {
    return std::clamp(bound < 0 ? bound + size : bound, std::int64_t{0}, size);
  };
  const std::int64_t start = clamp(call.integer("start", 0));
  const std::int64_t end = std::max(clamp(call.integer("end", INT64_MAX)), start);
  const std::int64_t step = call.integer("step", 1);
  if (step < 1) refuse("slice with a step below 1");
  return {sliced(self, dim, start, step, (end - start + step - 1) / step, call.make_output())};
}

RefOutputs ref_narrow(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  const std::int64_t dim = call.dim("dim", self.rank(), 0);
  const std::int64_t start = call.integer("start", 0);
  return {sliced(self, dim, start < 0 ? start + self.size(dim) : start, 1,
                 call.integer("length", 0), call.make_output())};
}

RefOutputs ref_select(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  const std::int64_t dim = call.dim("dim", self.rank(), 0);
  const std::int64_t index = call.integer("index", 0);
  return {sliced(self, dim, index < 0 ? index + self.size(dim) : index, 1, 1, call.make_output())};
}

/// split, chunk and unbind: the outputs follow each other along the dim.
RefOutputs ref_parts(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  const std::int64_t dim = call.dim("dim", self.rank(), 0);
  const bool drops_dim = call.node().op == "aten.unbind.int";
  RefOutputs outputs;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < call.node().outputs.size(); ++i) {
    RefTensor output = call.make_output(i);
    const std::int64_t count = drops_dim ? 1 : output.size(dim);
    outputs.push_back(sliced(self, dim, at, 1, count, std::move(output)));
    at += count;
  }
  return outputs;
}

RefOutputs ref_flip(const RefCall& call) {
  const RefTensor& self = call.tensor("self");
  RefTensor output = self;
  for (const std::int64_t dim : call.integers("dims")) {
    const RefTensor before = output;
    const std::vector<std::int64_t> dims(self.rank() > 0 ? 1 : 0, wrap_dim(dim, self.sizes.size()));
    for (const auto& row : rows_over(self.sizes, dims)) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        output.at(row[i]) = before.at(row[row.size() - 1 - i]);
      }
    }
  }
  return {std::move(output)};
}

}  // namespace

RefFn find_view_reference(std::string_view op) {
  static const std::unordered_map<std::string_view, RefFn> kTable = {
      {"aten.view.default", ref_same_elements},
      {"aten.reshape.default", ref_same_elements},
      {"aten._unsafe_view.default", ref_same_elements},
      {"aten.flatten.using_ints", ref_same_elements},
      {"aten.unflatten.int", ref_same_elements},
      {"aten.unsqueeze.default", ref_same_elements},
      {"aten.squeeze.default", ref_same_elements},
      {"aten.squeeze.dim", ref_same_elements},
      {"aten.squeeze.dims", ref_same_elements},
      {"aten.alias.default", ref_same_elements},
      {"aten.detach.default", ref_same_elements},
      {"aten.contiguous.default", ref_same_elements},
      {"aten.clone.default", ref_same_elements},
      {"aten.lift_fresh_copy.default", ref_same_elements},
      {"aten.permute.default", ref_permute},
      {"aten.transpose.int", ref_transpose},
      {"aten.t.default", ref_transpose},
      {"aten.expand.default", ref_expand},
      {"aten.expand_as.default", ref_expand},
      {"aten.slice.Tensor", ref_slice},
      {"aten.narrow.default", ref_narrow},
      {"aten.select.int", ref_select},
      {"aten.split.Tensor", ref_parts},
      {"aten.split.sizes", ref_parts},
      {"aten.split_with_sizes.default", ref_parts},
      {"aten.chunk.default", ref_parts},
      {"aten.unbind.int", ref_parts},
      {"aten.flip.default", ref_flip},
      {"aten.copy.default", ref_copy},
  };
  const auto place = kTable.find(op);
  return place == kTable.end() ? nullptr : place->second;
}

}  // namespace breakeven
