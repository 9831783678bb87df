#include "harness/measure/accuracy.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace breakeven {
namespace {

/// Distance of neighbouring values of `dtype` just below 2, as a share of 1.
double ulp_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    case DType::kF32:
      return 0x1p-23;
    case DType::kF64:
      return 0x1p-52;
    default:
      return 0;
  }
}

bool same_type(const HostTensor& a, const HostTensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes;
}

bool same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool are_equal(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_type(a[i], b[i])) return false;
    for (std::int64_t k = 0; k < a[i].element_count(); ++k) {
      if (!same_value(element_as_double(a[i], k), element_as_double(b[i], k))) return false;
    }
  }
  return true;
}

struct OutputVerdict {
  double rmse_eager = 0, rmse_arm = 0, limit = 0;
  bool masks_equal = true;
  bool ok = false;
  std::int64_t compared = 0;  ///< Elements that are finite in all three.
  double use() const {
    return limit > 0 ? rmse_arm / limit
                     : (rmse_arm > 0 ? std::numeric_limits<double>::infinity() : 0);
  }
};

OutputVerdict judge_output(const HostTensor& eager, const HostTensor& exact,
                           const HostTensor& candidate) {
  OutputVerdict verdict;
  double eager_squares = 0, arm_squares = 0, scale = 0;
  for (std::int64_t i = 0; i < eager.element_count(); ++i) {
    const double from_eager = element_as_double(eager, i);
    const double from_arm = element_as_double(candidate, i);
    // Integers have no rounding to forgive: eager itself is the reference.
    const double truth = is_floating(eager.dtype) ? element_as_double(exact, i) : from_eager;
    if (!std::isfinite(from_eager) || !std::isfinite(from_arm)) {
      verdict.masks_equal = verdict.masks_equal && same_value(from_eager, from_arm);
      continue;
    }
    if (!std::isfinite(truth)) continue;
    eager_squares += (from_eager - truth) * (from_eager - truth);
    arm_squares += (from_arm - truth) * (from_arm - truth);
    scale = std::max(scale, std::fabs(truth));
    ++verdict.compared;
  }
  const double count = static_cast<double>(std::max<std::int64_t>(1, verdict.compared));
  const double factor = size_of(eager.dtype) == 2 ? 3 : 2;
  verdict.rmse_eager = std::sqrt(eager_squares / count);
  verdict.rmse_arm = std::sqrt(arm_squares / count);
  verdict.limit = factor * verdict.rmse_eager + 2 * ulp_of(eager.dtype) * scale;
  verdict.ok = verdict.masks_equal && verdict.rmse_arm <= verdict.limit;
  return verdict;
}

}  // namespace

AccuracyRecord judge_accuracy(const std::string& arm, const std::string& shape,
                              const AccuracyOutputs& outputs) {
  AccuracyRecord record{.arm = arm, .shape = shape};
  record.eager_deterministic = are_equal(outputs.eager, outputs.eager_again);
  record.ok = outputs.candidate.size() == outputs.eager.size() &&
              outputs.fp64.size() == outputs.eager.size();
  if (!record.ok) return record;
  double worst = -1;
  std::int64_t compared = 0;
  for (std::size_t i = 0; i < outputs.eager.size(); ++i) {
    if (!same_type(outputs.eager[i], outputs.candidate[i]) ||
        outputs.eager[i].sizes != outputs.fp64[i].sizes) {
      record.ok = false;
      return record;
    }
    const OutputVerdict verdict =
        judge_output(outputs.eager[i], outputs.fp64[i], outputs.candidate[i]);
    record.ok = record.ok && verdict.ok;
    compared += verdict.compared;
    record.masks_equal = record.masks_equal && verdict.masks_equal;
    if (verdict.use() <= worst) continue;
    worst = verdict.use();
    record.rmse_eager = verdict.rmse_eager;
    record.rmse_arm = verdict.rmse_arm;
    record.limit = verdict.limit;
  }
  // Equal because there was nothing to compare is not equal.
  record.ok = record.ok && compared > 0;
  return record;
}

}  // namespace breakeven
