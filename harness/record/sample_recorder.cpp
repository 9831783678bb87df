#include "harness/record/sample_recorder.h"

#include <utility>

namespace breakeven {

SampleRecorder::SampleRecorder(std::size_t capacity) : samples_(capacity) {}

std::vector<RawSample> SampleRecorder::take() {
  samples_.resize(size_);
  size_ = 0;
  return std::exchange(samples_, {});
}

}  // namespace breakeven
