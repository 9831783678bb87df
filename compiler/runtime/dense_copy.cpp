#include "compiler/runtime/dense_copy.h"

#include <cstring>

namespace breakeven {
namespace {

/// Copies dims [dim, rank) from `from` to the dense `to`; returns the end of what was written.
char* copy_dims(const HostTensor& tensor, std::size_t dim, const char* from, char* to) {
  const auto width = static_cast<std::size_t>(size_of(tensor.dtype));
  if (dim == tensor.sizes.size()) {
    std::memcpy(to, from, width);
    return to + width;
  }
  const std::int64_t step = tensor.strides[dim] * static_cast<std::int64_t>(width);
  if (dim + 1 == tensor.sizes.size() && tensor.strides[dim] == 1) {
    const std::size_t bytes = static_cast<std::size_t>(tensor.sizes[dim]) * width;
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  for (std::int64_t i = 0; i < tensor.sizes[dim]; ++i) {
    to = copy_dims(tensor, dim + 1, from + i * step, to);
  }
  return to;
}

}  // namespace

HostTensor dense_copy(const HostTensor& tensor) {
  HostTensor dense = HostTensor::empty(tensor.dtype, tensor.sizes);
  if (tensor.element_count() > 0) {
    copy_dims(tensor, 0, static_cast<const char*>(tensor.data), static_cast<char*>(dense.data));
  }
  return dense;
}

}  // namespace breakeven
