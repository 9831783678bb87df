#pragma once

#include "compiler/ir/host_tensor.h"

namespace breakeven {

/// A dense row-major copy of a strided tensor.
HostTensor dense_copy(const HostTensor& tensor);

}  // namespace breakeven
