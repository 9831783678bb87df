#include "harness/measure/workload.h"

#include <cmath>

#include "compiler/ir/numeric.h"
#include "compiler/support/check.h"
#include "harness/traffic/random.h"
#include "harness/traffic/traffic.h"

namespace breakeven {
namespace {

std::int64_t size_of_dim(const Scenario& scenario, const ShapeBinding& shape,
                         const std::string& size) {
  if (const auto fixed = fixed_size(size)) return *fixed;
  for (std::size_t i = 0; i < scenario.dims.size(); ++i) {
    if (scenario.dims[i].name == size) return shape[i];
  }
  BE_CHECK(false, "no dim " << size);
  return 0;
}

void fill(HostTensor& tensor, const InputSpec& input, TrafficRandom& random) {
  const bool whole = !is_floating(tensor.dtype);
  const double low = whole ? std::ceil(input.fill_min) : input.fill_min;
  const double high = whole ? std::floor(input.fill_max) : input.fill_max;
  auto* bytes = static_cast<char*>(tensor.data);
  const std::int64_t count = tensor.element_count();
  const int width = size_of(tensor.dtype);
  for (std::int64_t i = 0; i < count; ++i, bytes += width) {
    const double drawn = random.uniform();
    const double value =
        whole ? low + std::floor(drawn * (high - low + 1)) : low + drawn * (high - low);
    encode_element(tensor.dtype, value, bytes);
  }
}

}  // namespace

std::vector<HostTensor> make_inputs(const Scenario& scenario, const ShapeBinding& shape,
                                    std::uint64_t seed) {
  std::vector<HostTensor> inputs;
  for (const InputSpec& input : scenario.inputs) {
    std::vector<std::int64_t> sizes;
    for (const std::string& size : input.sizes) sizes.push_back(size_of_dim(scenario, shape, size));
    HostTensor tensor = HostTensor::empty(input.dtype, std::move(sizes));
    TrafficRandom random(seed, "input " + input.name + ' ' + shape_text(scenario, shape));
    fill(tensor, input, random);
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::int32_t Workload::add(const ShapeBinding& shape) {
  const auto [found, is_new] = index_.try_emplace(shape, static_cast<std::int32_t>(names_.size()));
  if (is_new) {
    inputs_.push_back(make_inputs(scenario_, shape, seed_));
    names_.push_back(shape_text(scenario_, shape));
  }
  return found->second;
}

}  // namespace breakeven
