#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "compiler/ir/host_tensor.h"
#include "compiler/support/result.h"

namespace breakeven {

c10::ScalarType to_scalar_type(DType dtype);
std::optional<DType> to_dtype(c10::ScalarType type);

/// A tensor over the HostTensor's memory, without a copy. The tensor owns nothing: the caller keeps
/// `tensor.storage` alive for as long as it or a view of it is used.
at::Tensor borrow_tensor(const HostTensor& tensor);
/// The same, but the tensor shares ownership of `tensor.storage`.
at::Tensor share_tensor(const HostTensor& tensor);

/// A HostTensor over the tensor's memory, which it keeps alive. Refuses tensors off the CPU, sparse
/// ones, lazy conjugates and dtypes that HostTensor lacks.
Result<HostTensor> to_host_tensor(const at::Tensor& tensor);
/// The same into `host`, whose vectors serve again.
Result<bool> fill_host_tensor(const at::Tensor& tensor, HostTensor& host);

}  // namespace breakeven
