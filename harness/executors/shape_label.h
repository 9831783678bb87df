#pragma once

#include <span>
#include <string>

#include "compiler/ir/host_tensor.h"
#include "harness/scenario/scenario.h"

namespace breakeven {

/// "batch=1 length=13": the scenario's dims as they stand in the sizes of `inputs`. A dim that no
/// input carries is left out.
std::string shape_label(const Scenario& scenario, std::span<const HostTensor> inputs);

}  // namespace breakeven
