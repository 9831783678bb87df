#include "compiler/torch/sympy_expr.h"

#include <gtest/gtest.h>

namespace breakeven {
namespace {

class SympyExpr : public testing::Test {
 protected:
  SympyExpr() {
    s0_ = syms_.symbol("s0", {1, 64}, 2);
    s1_ = syms_.symbol("s1", {2, 512}, 7);
  }
  Result<Sym> parse(std::string_view text) {
    return parse_sympy(syms_, text,
                       [this](const std::string& name) { return syms_.find_symbol(name); });
  }
  std::int64_t value(std::string_view text, std::int64_t s0, std::int64_t s1) {
    const auto parsed = parse(text);
    if (!parsed.ok()) {
      ADD_FAILURE() << parsed.refusal().reason;
      return -1;
    }
    const std::int64_t values[] = {s0, s1};
    return syms_.evaluate(parsed.value(), values);
  }
  SymContext syms_;
  Sym s0_, s1_;
};

TEST_F(SympyExpr, ReadsTheInfixForm) {
  EXPECT_EQ(value("s0*s1", 3, 5), 15);
  EXPECT_EQ(value("(s0 + 7)//8", 9, 2), 2);
  EXPECT_EQ(value("2*s0 - s1 % 4", 3, 7), 3);
  EXPECT_EQ(value("Max(1, s0 - 5)", 3, 2), 1);
  EXPECT_EQ(value("Min(s1, 16, 4*s0)", 3, 100), 12);
  EXPECT_EQ(value("s0**2", 5, 2), 25);
  EXPECT_EQ(value("-s0 + 10", 4, 2), 6);
  EXPECT_EQ(value("Mod(s1, s0)", 4, 7), 3);
}

TEST_F(SympyExpr, ReadsTheConstructorForm) {
  EXPECT_EQ(value("Mul(Integer(32), Symbol('s1', positive=True, integer=True))", 1, 7), 224);
  EXPECT_EQ(value("FloorDiv(Add(Symbol('s0', integer=True), Integer(7)), Integer(8))", 17, 2), 3);
  EXPECT_EQ(value("Add(Integer(-1), Symbol('s0'))", 5, 2), 4);
  EXPECT_EQ(value("CeilDiv(Symbol('s1'), Integer(4))", 1, 9), 3);
  EXPECT_EQ(value("ModularIndexing(Symbol('s1'), Integer(2), Integer(3))", 1, 10), 2);
}

TEST_F(SympyExpr, FractionsNeedOnlyTheWholeToBeAnInteger) {
  EXPECT_EQ(value("Add(Mul(Rational(1, 2), Symbol('s0')), Rational(1, 2))", 7, 2), 4);
  EXPECT_EQ(value("s0/2 + s1/2", 3, 5), 4);
  EXPECT_EQ(value("s0*(4/2)", 3, 5), 6);
}

TEST_F(SympyExpr, EqualTextsShareOneHandle) {
  EXPECT_EQ(parse("s0*s1").value(), parse("Mul(Symbol('s1'), Symbol('s0'))").value());
  EXPECT_EQ(parse("s0").value(), s0_);
}

TEST_F(SympyExpr, RefusesWhatItCannotRead) {
  for (const char* text :
       {"", "s2", "s0 +", "(s0", "s0)", "Foo(s0)", "s0 // 0", "s0 % 0", "s0 / s1", "s0**s1",
        "99999999999999999999", "Symbol('s0'", "Symbol(s0)", "Max()", "s0 s1", "1.5", "s0**9"}) {
    EXPECT_FALSE(parse(text).ok()) << text;
  }
  EXPECT_FALSE(parse(std::string(100000, '(')).ok());
  EXPECT_FALSE(parse(std::string(100000, '-') + "s0").ok());
  EXPECT_NE(parse("s2").refusal().reason.find("unknown symbol 's2'"), std::string::npos);
}

TEST_F(SympyExpr, KnowsALoneSymbol) {
  EXPECT_EQ(lone_symbol("s0"), "s0");
  EXPECT_EQ(lone_symbol("Symbol('s43', positive=True, integer=True)"), "s43");
  EXPECT_EQ(lone_symbol("2*s0"), std::nullopt);
  EXPECT_EQ(lone_symbol("12"), std::nullopt);
  EXPECT_EQ(lone_symbol("Mul(Integer(2), Symbol('s0'))"), std::nullopt);
  EXPECT_EQ(lone_symbol(""), std::nullopt);
}

}  // namespace
}  // namespace breakeven
