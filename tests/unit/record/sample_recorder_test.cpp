#include "harness/record/sample_recorder.h"

#include <gtest/gtest.h>

namespace breakeven {
namespace {

TEST(SampleRecorder, KeepsOrderAndCountsWhatDoesNotFit) {
  SampleRecorder recorder(2);
  EXPECT_TRUE(recorder.add({.id = 1}));
  EXPECT_FALSE(recorder.is_full());
  EXPECT_TRUE(recorder.add({.id = 2}));
  EXPECT_TRUE(recorder.is_full());
  EXPECT_FALSE(recorder.add({.id = 3}));
  EXPECT_EQ(recorder.dropped(), 1);
  const std::vector<RawSample> samples = recorder.take();
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1].id, 2);
  EXPECT_EQ(recorder.size(), 0u);
}

}  // namespace
}  // namespace breakeven
