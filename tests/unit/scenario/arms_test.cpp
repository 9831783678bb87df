#include "harness/scenario/arms.h"

#include <gtest/gtest.h>

namespace breakeven {
namespace {

TEST(PeerArms, EveryBuiltTorchCompileArmReadsBack) {
  int compiled = 0;
  for (const std::string& arm : built_arms()) {
    const auto parsed = parse_peer_arm(arm);
    if (!arm.starts_with("torch-compile:")) continue;
    ++compiled;
    ASSERT_TRUE(parsed) << arm;
    EXPECT_EQ(parsed->engine, "torch-compile");
    EXPECT_EQ(arm.find(":dynamic") != std::string::npos, parsed->dynamic) << arm;
    EXPECT_EQ(arm.find(":mark_dynamic") != std::string::npos, parsed->mark_dynamic) << arm;
    EXPECT_EQ(arm.ends_with(":freezing"), parsed->freezing) << arm;
    EXPECT_TRUE(arm.starts_with("torch-compile:" + parsed->mode)) << arm;
  }
  EXPECT_EQ(compiled, 4 * 3 * 2);
}

TEST(PeerArms, OthersAreNone) {
  for (const char* arm : {"eager", "fused:dynamic", "torch-compile", "torch-compile:fast",
                          "torch-compile:default:freezing:dynamic", "torch-eager:dynamic"}) {
    EXPECT_FALSE(parse_peer_arm(arm)) << arm;
  }
}

}  // namespace
}  // namespace breakeven
