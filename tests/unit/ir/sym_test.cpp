#include "compiler/ir/sym.h"

#include <gtest/gtest.h>

#include <random>

namespace breakeven {
namespace {

class SymTest : public testing::Test {
 protected:
  SymContext context_;
  Sym s_ = context_.symbol("s", {1, 64}, 2);
  Sym t_ = context_.symbol("t", {0, 512}, 7);
  Sym c(std::int64_t value) { return context_.constant(value); }
  Sym read(std::string_view text) { return context_.parse(text).value(); }
};

TEST_F(SymTest, EqualExpressionsShareOneHandle) {
  EXPECT_EQ(context_.add(s_, t_), context_.add(t_, s_));
  EXPECT_EQ(read("(s + 1)*(s - 1)"), read("s*s - 1"));
  EXPECT_EQ(read("s + s + s"), read("3*s"));
  EXPECT_EQ(read("s - s"), c(0));
  EXPECT_EQ(read("2*(s + t) - t*2"), read("s*2"));
  EXPECT_EQ(read("(s*t)*s"), read("s*(s*t)"));
}

TEST_F(SymTest, DivisionAndModuloSimplify) {
  EXPECT_EQ(read("(s*128*768)//(s*128)"), c(768));
  EXPECT_EQ(read("(6*s + 9)//3"), read("2*s + 3"));
  EXPECT_EQ(read("(8*s + 3)//8"), s_);
  EXPECT_EQ(read("(s//4)//8"), read("s//32"));
  EXPECT_EQ(read("mod(8*s + 3, 8)"), c(3));
  EXPECT_EQ(read("mod(s, 65)"), s_);
  EXPECT_EQ(read("s//65"), c(0));
  EXPECT_EQ(read("s//s"), c(1));
  // t may be 0, where t//t is 0: nothing may be cancelled.
  EXPECT_NE(read("t//t"), c(1));
  EXPECT_EQ(read("-7//2"), c(-4));
  EXPECT_EQ(context_.evaluate(read("(t - 7)//2"), std::vector<std::int64_t>{1, 4}), -2);
}

TEST_F(SymTest, MinAndMaxUseRanges) {
  EXPECT_EQ(read("min(s, 64)"), s_);
  EXPECT_EQ(read("max(s, 1)"), s_);
  EXPECT_EQ(read("min(s, s + 1)"), s_);
  EXPECT_EQ(read("max(min(s, 9223372036854775807), 0)"), s_);
  EXPECT_EQ(read("min(t, min(s, t))"), read("min(s, t)"));
}

TEST_F(SymTest, RangesHoldAndSaturate) {
  EXPECT_EQ(context_.range(read("s*t + 1")), (SymRange{1, 64 * 512 + 1}));
  EXPECT_EQ(context_.range(read("(t + 7)//8")), (SymRange{0, 64}));
  const Sym open = context_.symbol("u", {0, SymRange::kUnbounded}, 1);
  EXPECT_EQ(context_.range(context_.mul(open, c(3))).hi, SymRange::kUnbounded);
  EXPECT_EQ(context_.range(context_.mul(c(INT64_MAX), c(INT64_MAX))).hi, INT64_MAX);
}

TEST_F(SymTest, EveryTextReadsBack) {
  for (const char* text : {"0", "-9223372036854775808", "9223372036854775807", "s", "-s", "s*7 + 1",
                           "(s + 7)//8", "mod(s, 8)", "min(s, t)", "s*t*2 - t*3 - 4"}) {
    const Sym sym = read(text);
    EXPECT_EQ(context_.parse(context_.to_string(sym)).value(), sym) << text;
  }
  EXPECT_EQ(context_.to_string(read("7*s + 1")), "s*7 + 1");
}

TEST_F(SymTest, BadTextIsRefused) {
  for (const std::string& text :
       {std::string(""), std::string("s +"), std::string("q"), std::string("s // 0"),
        std::string("mod(s, 0)"), std::string("9223372036854775808"), std::string("min(s)"),
        std::string("(s"), std::string("s s"), std::string(5000, '('), std::string(100, '('),
        std::string("\xff\xfe")}) {
    EXPECT_FALSE(context_.parse(text).ok()) << text;
  }
}

TEST_F(SymTest, ImportKeepsTheMeaning) {
  SymContext other;
  const Sym q = other.symbol("q", {1, 10}, 3);
  const Sym replacement[] = {q, other.constant(4)};
  const Sym moved = other.import(context_, read("(s + t)//3 + min(s, t)*2"), replacement);
  EXPECT_EQ(other.evaluate(moved, std::vector<std::int64_t>{5}), 3 + 8);
}

/// Builds a random expression and its value under `values` side by side.
std::pair<Sym, std::int64_t> random_expression(SymContext& context, std::mt19937& random,
                                               const std::vector<std::int64_t>& values, int depth) {
  if (depth == 0 || random() % 4 == 0) {
    if (random() % 2 == 0) {
      const auto value = static_cast<std::int64_t>(random() % 9) - 3;
      return {context.constant(value), value};
    }
    const std::size_t index = random() % values.size();
    return {*context.find_symbol(context.symbols()[index].name), values[index]};
  }
  const auto [a, x] = random_expression(context, random, values, depth - 1);
  const auto [b, y] = random_expression(context, random, values, depth - 1);
  const auto floor_div = [](std::int64_t p, std::int64_t q) {
    return q == 0 ? 0 : p / q - ((p % q != 0 && (p < 0) != (q < 0)) ? 1 : 0);
  };
  switch (random() % 7) {
    case 0:
      return {context.add(a, b), x + y};
    case 1:
      return {context.sub(a, b), x - y};
    case 2:
      return {context.mul(a, b), x * y};
    case 3:
      return {context.floor_div(a, b), floor_div(x, y)};
    case 4:
      return {context.mod(a, b), y == 0 ? 0 : x - floor_div(x, y) * y};
    case 5:
      return {context.min(a, b), std::min(x, y)};
    default:
      return {context.max(a, b), std::max(x, y)};
  }
}

TEST(SymFuzz, CanonicalFormKeepsValueRangeAndText) {
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 random(seed);
    SymContext context;
    context.symbol("a", {1, 64}, 2);
    context.symbol("b", {0, 9}, 2);
    context.symbol("c", {-5, 5}, 2);
    const std::vector<std::int64_t> values = {1 + static_cast<std::int64_t>(random() % 64),
                                              static_cast<std::int64_t>(random() % 10),
                                              static_cast<std::int64_t>(random() % 11) - 5};
    const auto [sym, value] = random_expression(context, random, values, 4);
    const std::string text = context.to_string(sym);
    ASSERT_EQ(context.evaluate(sym, values), value) << seed << ": " << text;
    const SymRange range = context.range(sym);
    ASSERT_LE(range.lo, value) << seed << ": " << text;
    ASSERT_GE(range.hi, value) << seed << ": " << text;
    const Result<Sym> again = context.parse(text);
    ASSERT_TRUE(again.ok()) << seed << ": " << text;
    ASSERT_EQ(context.to_string(again.value()), text) << seed;
    ASSERT_EQ(again.value(), sym) << seed << ": " << text;
  }
}

}  // namespace
}  // namespace breakeven
