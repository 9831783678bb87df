#include "compiler/torch/aten_tensor.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>

#include <utility>

namespace breakeven {

c10::ScalarType to_scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return c10::ScalarType::Bool;
    case DType::kU8:
      return c10::ScalarType::Byte;
    case DType::kI8:
      return c10::ScalarType::Char;
    case DType::kI16:
      return c10::ScalarType::Short;
    case DType::kI32:
      return c10::ScalarType::Int;
    case DType::kI64:
      return c10::ScalarType::Long;
    case DType::kF16:
      return c10::ScalarType::Half;
    case DType::kBF16:
      return c10::ScalarType::BFloat16;
    case DType::kF32:
      return c10::ScalarType::Float;
    case DType::kF64:
      return c10::ScalarType::Double;
  }
  BE_CHECK(false, "unknown dtype " << static_cast<int>(dtype));
}

std::optional<DType> to_dtype(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Bool:
      return DType::kBool;
    case c10::ScalarType::Byte:
      return DType::kU8;
    case c10::ScalarType::Char:
      return DType::kI8;
    case c10::ScalarType::Short:
      return DType::kI16;
    case c10::ScalarType::Int:
      return DType::kI32;
    case c10::ScalarType::Long:
      return DType::kI64;
    case c10::ScalarType::Half:
      return DType::kF16;
    case c10::ScalarType::BFloat16:
      return DType::kBF16;
    case c10::ScalarType::Float:
      return DType::kF32;
    case c10::ScalarType::Double:
      return DType::kF64;
    default:
      return std::nullopt;
  }
}

at::Tensor borrow_tensor(const HostTensor& tensor) {
  return at::for_blob(tensor.data, tensor.sizes)
      .strides(tensor.strides)
      .options(at::TensorOptions().dtype(to_scalar_type(tensor.dtype)))
      .make_tensor();
}

at::Tensor share_tensor(const HostTensor& tensor) {
  return at::for_blob(tensor.data, tensor.sizes)
      .strides(tensor.strides)
      .context(new std::shared_ptr<void>(tensor.storage),
               [](void* owner) { delete static_cast<std::shared_ptr<void>*>(owner); })
      .options(at::TensorOptions().dtype(to_scalar_type(tensor.dtype)))
      .make_tensor();
}

Result<bool> fill_host_tensor(const at::Tensor& tensor, HostTensor& host) {
  if (!tensor.defined()) return Refusal{"undefined_tensor", "the op returned no tensor"};
  if (!tensor.device().is_cpu() || tensor.layout() != c10::kStrided || tensor.is_conj() ||
      tensor.is_neg()) {
    return Refusal{"unsupported_layout", "the op returned a tensor that is not plain CPU memory"};
  }
  const auto dtype = to_dtype(tensor.scalar_type());
  if (!dtype) {
    return Refusal{"unsupported_dtype",
                   std::string("the op returned dtype ") + c10::toString(tensor.scalar_type())};
  }
  host.dtype = *dtype;
  host.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  host.strides.assign(tensor.strides().begin(), tensor.strides().end());
  host.data = tensor.data_ptr();
  host.storage = std::make_shared<at::Tensor>(tensor);
  return true;
}

Result<HostTensor> to_host_tensor(const at::Tensor& tensor) {
  HostTensor host;
  const auto filled = fill_host_tensor(tensor, host);
  if (!filled.ok()) return filled.refusal();
  return host;
}

}  // namespace breakeven
