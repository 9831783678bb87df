#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/ir/host_tensor.h"
#include "reports/schema/results.h"

namespace breakeven {

/// Outputs of one request by the ways METHOD's rule compares.
struct AccuracyOutputs {
  std::vector<HostTensor> eager, eager_again, fp64, candidate;
};

/// Candidate RMSE <= m x eager RMSE + 2 ulp of the output's scale, both against fp64, m = 2 (3 for
/// 16-bit outputs); NaN and infinities in the same places as eager; integers equal to eager's. Of
/// several outputs the one that uses most of its limit is kept. A different count, dtype or size of
/// an output fails.
AccuracyRecord judge_accuracy(const std::string& arm, const std::string& shape,
                              const AccuracyOutputs& outputs);

}  // namespace breakeven
