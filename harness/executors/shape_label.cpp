#include "harness/executors/shape_label.h"

#include <algorithm>
#include <optional>

namespace breakeven {
namespace {

std::optional<std::int64_t> size_of_dim(const Scenario& scenario, const std::string& dim,
                                        std::span<const HostTensor> inputs) {
  const std::size_t known = std::min(inputs.size(), scenario.inputs.size());
  for (std::size_t i = 0; i < known; ++i) {
    const std::vector<std::string>& names = scenario.inputs[i].sizes;
    const std::size_t rank = std::min(names.size(), inputs[i].sizes.size());
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (names[axis] == dim) return inputs[i].sizes[axis];
    }
  }
  return std::nullopt;
}

}  // namespace

std::string shape_label(const Scenario& scenario, std::span<const HostTensor> inputs) {
  std::string label;
  for (const DimSpec& dim : scenario.dims) {
    const auto size = size_of_dim(scenario, dim.name, inputs);
    if (!size) continue;
    if (!label.empty()) label += ' ';
    label += dim.name + '=' + std::to_string(*size);
  }
  return label;
}

}  // namespace breakeven
