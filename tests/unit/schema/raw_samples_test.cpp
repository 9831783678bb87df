#include "reports/schema/raw_samples.h"

#include <gtest/gtest.h>

#include "compiler/support/error.h"
#include "compiler/support/files.h"

namespace breakeven {
namespace {

std::vector<RawSample> some_samples() {
  std::vector<RawSample> samples;
  for (int i = 0; i < 100; ++i) {
    samples.push_back({.id = i,
                       .due_ns = i * 1000,
                       .sent_ns = i * 1000 + 1,
                       .start_ns = i * 1000 + 2,
                       .done_ns = -i * 77777777777LL,
                       .compile_ns = i == 3 ? 9 : 0,
                       .shape = -i,
                       .flags = static_cast<std::uint32_t>(i % 16)});
  }
  return samples;
}

std::string message_of(std::string_view bytes) {
  try {
    (void)raw_samples_from_bytes(bytes, "t.bin");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(RawSamples, RoundTrip) {
  const TempDir dir;
  const std::string checksum = write_raw_samples(some_samples(), dir.path() / "a.bin");
  EXPECT_EQ(checksum, checksum_of(some_samples()));
  const auto back = read_raw_samples(dir.path() / "a.bin", checksum);
  ASSERT_EQ(back.size(), 100U);
  EXPECT_EQ(raw_samples_to_bytes(back), raw_samples_to_bytes(some_samples()));
  EXPECT_EQ(back[3].compile_ns, 9);
  EXPECT_EQ(back[99].done_ns, -99 * 77777777777LL);
  EXPECT_EQ(back[99].shape, -99);
}

TEST(RawSamples, EmptyRoundTrips) {
  EXPECT_TRUE(raw_samples_from_bytes(raw_samples_to_bytes({}), "t.bin").empty());
}

TEST(RawSamples, EveryTruncationIsRefused) {
  const std::string bytes = raw_samples_to_bytes(some_samples());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(message_of(std::string_view(bytes).substr(0, size)).find("cut short"),
              std::string::npos)
        << size;
  }
  EXPECT_NE(message_of(bytes + "x").find("bytes too many"), std::string::npos);
}

TEST(RawSamples, EveryFlippedByteIsRefused) {
  const std::string bytes = raw_samples_to_bytes(some_samples());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    EXPECT_FALSE(message_of(bad).empty()) << i;
  }
}

TEST(RawSamples, ForeignAndOtherVersionsNameTheFile) {
  EXPECT_NE(
      message_of("PK\3\4 this is a zip file and no sample file").find("not a raw sample file"),
      std::string::npos);
  std::string newer = raw_samples_to_bytes(some_samples());
  newer[8] = 2;
  EXPECT_NE(message_of(newer).find("t.bin: raw sample file of another version"), std::string::npos);
}

}  // namespace
}  // namespace breakeven
