#include "reports/decide/policy.h"

#include <gtest/gtest.h>

#include "compiler/support/error.h"
#include "compiler/support/files.h"

namespace breakeven {
namespace {

std::string error_of(const std::string& text) {
  try {
    (void)parse_policy(text, "p.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Policy, EmptyTextIsTheDefaults) {
  EXPECT_EQ(parse_policy("").min_processes, 5);
  EXPECT_FALSE(parse_policy("").max_payback_days);
}

TEST(Policy, TheCommittedPolicyReads) {
  const Policy policy = parse_policy(
      read_file(std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "scenarios/policies/balanced.json"));
  EXPECT_EQ(policy.name, "balanced");
  EXPECT_EQ(policy.min_speedup, 1.05);
}

TEST(Policy, EveryKeyIsRead) {
  const Policy policy = parse_policy(
      R"({"policy":1,"min_processes":7,"min_speedup":2,"max_break_even_life_share":0.1,
          "p99_headroom":0.2,"max_p99_ratio":3,"max_fallback_share":0.4,"max_accuracy_ratio":0.5,
          "max_cold_start_ms":600,"max_payback_days":70})");
  EXPECT_EQ(policy.min_processes, 7);
  EXPECT_EQ(policy.min_speedup, 2);
  EXPECT_EQ(policy.max_break_even_life_share, 0.1);
  EXPECT_EQ(policy.p99_headroom, 0.2);
  EXPECT_EQ(policy.max_p99_ratio, 3);
  EXPECT_EQ(policy.max_fallback_share, 0.4);
  EXPECT_EQ(policy.max_accuracy_ratio, 0.5);
  EXPECT_EQ(policy.max_cold_start_ms, 600);
  EXPECT_EQ(policy.max_payback_days, 70);
}

TEST(Policy, UnknownKeysNameTheNearest) {
  EXPECT_NE(error_of(R"({"policy":1,"min_speedupp":2})").find("min_speedup"), std::string::npos);
}

TEST(Policy, BadTextsAreRefused) {
  for (const char* text :
       {"[", "[]", "{}", R"({"policy":2})", R"({"policy":1,"min_speedup":"2"})",
        R"({"policy":1,"min_processes":2.5})", R"({"policy":1,"p99_headroom":2})",
        R"({"policy":1,"min_processes":0})", R"({"policy":1,"name":3})"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
}

}  // namespace
}  // namespace breakeven
