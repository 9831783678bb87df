#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/ir/dtype.h"

namespace breakeven {

/// A strided view of host memory that keeps its storage alive. The one tensor type that crosses
/// between harness, compiler and LibTorch; conversion to and from at::Tensor copies nothing.
struct HostTensor {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  ///< In elements.
  void* data = nullptr;               ///< First element.
  std::shared_ptr<void> storage;      ///< Owner of the memory `data` points into.

  std::int64_t element_count() const;
  std::int64_t byte_count() const { return element_count() * size_of(dtype); }
  bool is_contiguous() const;

  template <typename T>
  T* as() {
    return static_cast<T*>(data);
  }
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data);
  }

  /// Contiguous, 64-byte aligned, not initialised.
  static HostTensor empty(DType dtype, std::vector<std::int64_t> sizes);
  static HostTensor zeros(DType dtype, std::vector<std::int64_t> sizes);
};

/// Row-major strides of `sizes`, in elements.
std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes);

/// Element at a flat row-major index, as double (integers above 2^53 lose bits).
double element_as_double(const HostTensor& tensor, std::int64_t flat_index);

}  // namespace breakeven
