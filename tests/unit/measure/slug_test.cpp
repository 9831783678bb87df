#include <gtest/gtest.h>

#include <set>

#include "harness/measure/trial.h"

namespace breakeven {
namespace {

// B140: a name never leaves its directory, and no two share one.
TEST(Slug, IsSafeAndUnique) {
  const std::vector<std::string> names = {"a/b",
                                          "a-b",
                                          "a_b",
                                          "../x",
                                          "..",
                                          ".",
                                          "",
                                          "CON",
                                          "con",
                                          "com1",
                                          "nul",
                                          "A",
                                          "a",
                                          "x y",
                                          std::string(300, 'n'),
                                          std::string(301, 'n'),
                                          "Qwen/Qwen3-14B",
                                          "qwen/qwen3-14b",
                                          std::string("a\0b", 3),
                                          "日本",
                                          "-rf",
                                          "empty"};
  std::set<std::string> slugs;
  for (const std::string& name : names) {
    const std::string slug = safe_slug(name);
    EXPECT_FALSE(slug.empty());
    EXPECT_LE(slug.size(), 60u);
    EXPECT_EQ(slug.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_"), std::string::npos)
        << slug;
    EXPECT_TRUE(slugs.insert(slug).second) << name;
  }
  EXPECT_EQ(safe_slug("chatbot-encoder"), "chatbot-encoder");
  EXPECT_NE(safe_slug("con"), "con");
}

}  // namespace
}  // namespace breakeven
