#include "compiler/ir/host_tensor.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "compiler/ir/numeric.h"
#include "compiler/support/check.h"
#include "compiler/support/error.h"

namespace breakeven {

std::int64_t HostTensor::element_count() const {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

bool HostTensor::is_contiguous() const {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

namespace {

constexpr std::size_t kAlignment = 64;

/// Aligned memory for the sizes, or null when there is none or their product is no byte count.
void* allocate(DType dtype, const std::vector<std::int64_t>& sizes) {
  std::size_t bytes = static_cast<std::size_t>(size_of(dtype));
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes)) return nullptr;
  }
  if (bytes > PTRDIFF_MAX - kAlignment) return nullptr;
  return std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
}

UserError no_memory(DType dtype, const std::vector<std::int64_t>& sizes) {
  std::string text(name_of(dtype));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "[" : ", ") + std::to_string(sizes[i]);
  }
  return UserError({.message = "there is no memory for a tensor of this size",
                    .value = text + "]",
                    .fix = "Use smaller sizes, or a machine with more memory"},
                   ExitCode::kEnvironment);
}

}  // namespace

HostTensor HostTensor::empty(DType dtype, std::vector<std::int64_t> sizes) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.strides = contiguous_strides(sizes);
  tensor.sizes = std::move(sizes);
  void* memory = allocate(dtype, tensor.sizes);
  if (memory == nullptr) throw no_memory(dtype, tensor.sizes);
  tensor.storage = std::shared_ptr<void>(memory, std::free);
  tensor.data = memory;
  return tensor;
}

HostTensor HostTensor::zeros(DType dtype, std::vector<std::int64_t> sizes) {
  HostTensor tensor = empty(dtype, std::move(sizes));
  std::memset(tensor.data, 0, static_cast<std::size_t>(tensor.byte_count()));
  return tensor;
}

std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return strides;
}

double element_as_double(const HostTensor& tensor, std::int64_t flat_index) {
  std::int64_t offset = 0;
  for (std::size_t i = tensor.sizes.size(); i-- > 0;) {
    offset += flat_index % tensor.sizes[i] * tensor.strides[i];
    flat_index /= tensor.sizes[i];
  }
  const auto* base = static_cast<const unsigned char*>(tensor.data);
  return decode_element(tensor.dtype, base + offset * size_of(tensor.dtype));
}

}  // namespace breakeven
