#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/host_tensor.h"
#include "harness/scenario/scenario.h"

namespace breakeven {

/// The model inputs of one request: uniform values between the fills, the same bytes for the same
/// (scenario, shape, seed) on every machine.
std::vector<HostTensor> make_inputs(const Scenario& scenario, const ShapeBinding& shape,
                                    std::uint64_t seed);

/// The distinct shapes of a trial with their inputs, all made before the clock starts.
class Workload {
 public:
  Workload(const Scenario& scenario, std::uint64_t seed) : scenario_(scenario), seed_(seed) {}

  /// Index of the shape, made when it is new.
  std::int32_t add(const ShapeBinding& shape);
  const std::vector<HostTensor>& inputs(std::int32_t shape) const {
    return inputs_[static_cast<std::size_t>(shape)];
  }
  /// "batch=1 length=13" by index; what Trial::shapes holds.
  const std::vector<std::string>& names() const { return names_; }

 private:
  const Scenario& scenario_;
  std::uint64_t seed_;
  std::map<ShapeBinding, std::int32_t> index_;
  std::vector<std::vector<HostTensor>> inputs_;
  std::vector<std::string> names_;
};

}  // namespace breakeven
