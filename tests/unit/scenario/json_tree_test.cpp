#include "harness/scenario/json_tree.h"

#include <gtest/gtest.h>

namespace breakeven {
namespace {

std::string fault_of(const std::string& text) {
  std::vector<Diagnostic> diagnostics;
  try {
    parse_json_tree(text, "f.json", diagnostics);
  } catch (const UserError& error) {
    return error.what();
  }
  return diagnostics.empty() ? "" : to_string(diagnostics.front());
}

TEST(JsonTree, ReadsValuesWithTheirPlaces) {
  std::vector<Diagnostic> none;
  const JsonNode root =
      parse_json_tree("{\n  \"a\": [1, -2.5e3],\n  \"\\u00e9\": \"x\\n\"\n}", "f", none);
  ASSERT_EQ(root.members.size(), 2u);
  const JsonNode& second = root.find("a")->items[1];
  EXPECT_EQ(second.number, -2500);
  EXPECT_EQ(second.place.line, 2);
  EXPECT_EQ(second.place.column, 12);
  EXPECT_EQ(root.find("é")->text, "x\n");
  EXPECT_TRUE(none.empty());
}

TEST(JsonTree, CountsColumnsInBytes) {
  const std::string fault = fault_of("{\"é\": tru}");
  EXPECT_TRUE(fault.starts_with("f.json:1:8:")) << fault;
}

struct BadCase {
  const char* text;
  const char* place;
  const char* says;
};

class BadJson : public testing::TestWithParam<BadCase> {};

TEST_P(BadJson, IsRefusedWithItsPlace) {
  const std::string fault = fault_of(GetParam().text);
  EXPECT_TRUE(fault.starts_with(std::string("f.json:") + GetParam().place + ":")) << fault;
  EXPECT_NE(fault.find(GetParam().says), std::string::npos) << fault;
}

INSTANTIATE_TEST_SUITE_P(All, BadJson,
                         testing::Values(BadCase{"", "1:1", "empty"},
                                         BadCase{"{\"a\": 1", "1:8", "ends too early"},
                                         BadCase{"{\"a\" 1}", "1:6", "':' was expected"},
                                         BadCase{"{\"a\": 1,}", "1:9", "a key in double quotes"},
                                         BadCase{"[1,]", "1:4", "a value was expected"},
                                         BadCase{"{} x", "1:4", "more after the end"},
                                         BadCase{"{\n// c\n}", "2:1", "JSON has no comments"},
                                         BadCase{"{\"a\": NaN}", "1:7", "no such number"},
                                         BadCase{"{\"a\": -Infinity}", "1:8", "no such number"},
                                         BadCase{"{\"a\": 01}", "1:7", "may not start with 0"},
                                         BadCase{"{\"a\": 1e999}", "1:7", "too large"},
                                         BadCase{"{\"a\": 1, \"a\": 2}", "1:10", "given twice"},
                                         BadCase{"\xef\xbb\xbf{}", "1:1", "byte order mark"},
                                         BadCase{"{\"a\": \"\xff\"}", "1:8", "not UTF-8"},
                                         BadCase{"{\"a\": \"\xed\xa0\x80\"}", "1:8", "not UTF-8"},
                                         BadCase{"{\"a\": \"\\ud800\"}", "1:14", "surrogate"},
                                         BadCase{"{\"a\": \"b\nc\"}", "1:9", "control character"},
                                         BadCase{"{\"a\": \"b", "1:9", "closing double quote"}));

TEST(JsonTree, RefusesDeepNestingWithoutRunningOutOfStack) {
  const std::string deep(1'000'000, '[');
  EXPECT_NE(fault_of(deep).find("nested deeper than 64"), std::string::npos);
  const std::string fits = std::string(64, '[') + std::string(64, ']');
  EXPECT_EQ(fault_of(fits), "");
}

TEST(JsonTree, RefusesHugeObjectsInLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_NE(fault_of(text).find("more than 4096 keys"), std::string::npos);
}

TEST(JsonTree, SmallNumbersRoundToZero) { EXPECT_EQ(fault_of("[1e-999]"), ""); }

}  // namespace
}  // namespace breakeven
