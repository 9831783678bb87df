#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "reports/schema/raw_samples.h"

namespace breakeven {

/// Keeps the samples of one trial. All memory is taken, and touched, before the clock starts:
/// adding a sample allocates nothing and faults no page in.
class SampleRecorder {
 public:
  explicit SampleRecorder(std::size_t capacity);

  /// False when the recorder is full; the sample is then counted in dropped().
  bool add(const RawSample& sample) {
    if (size_ == samples_.size()) {
      ++dropped_;
      return false;
    }
    samples_[size_++] = sample;
    return true;
  }

  bool is_full() const { return size_ == samples_.size(); }
  std::int64_t dropped() const { return dropped_; }
  std::size_t size() const { return size_; }
  /// The samples so far, in the order added; the recorder is empty afterwards.
  std::vector<RawSample> take();
  const RawSample& operator[](std::size_t index) const { return samples_[index]; }

 private:
  std::vector<RawSample> samples_;
  std::size_t size_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace breakeven
