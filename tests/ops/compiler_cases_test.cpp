// Known failures of systems like this one, by the identifier of the case: what the type rules, the
// reference and the passes must answer. Each graph runs as written and after the passes.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compiler/ir/numeric.h"
#include "compiler/ir/op_table.h"
#include "compiler/ir/reference.h"
#include "compiler/passes/passes.h"

namespace breakeven {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

HostTensor tensor(DType dtype, std::vector<std::int64_t> sizes, const std::vector<double>& data) {
  HostTensor result = HostTensor::empty(dtype, std::move(sizes));
  for (std::size_t i = 0; i < data.size(); ++i) {
    encode_element(dtype, data[i],
                   result.as<char>() + i * static_cast<std::size_t>(size_of(dtype)));
  }
  return result;
}

HostTensor list(DType dtype, const std::vector<double>& data) {
  return tensor(dtype, {static_cast<std::int64_t>(data.size())}, data);
}

/// A graph of the given statements, whose value %r is returned.
Graph graph_of(const std::string& statements) {
  return parse_graph("graph \"case\" {\n" + statements + "\nreturn %r\n}\n", "case.ir");
}

/// Output as doubles; checks that the passes do not change it.
std::vector<double> run(const std::string& statements, const std::vector<HostTensor>& inputs,
                        double tolerance = 0) {
  const Graph graph = graph_of(statements);
  const auto plain = interpret_reference(graph, {}, inputs);
  const auto passed = interpret_reference(run_pipeline(graph), {}, inputs);
  EXPECT_TRUE(plain.ok() && passed.ok()) << (plain.ok() ? "" : plain.refusal().reason);
  if (!plain.ok() || !passed.ok()) return {};
  std::vector<double> values;
  for (std::int64_t i = 0; i < plain.value()[0].element_count(); ++i) {
    values.push_back(element_as_double(plain.value()[0], i));
    const double after = element_as_double(passed.value()[0], i);
    if (std::isnan(values.back())) {
      EXPECT_TRUE(std::isnan(after)) << i;
    } else if (values.back() != after) {
      EXPECT_NEAR(values.back(), after, tolerance) << i;
    }
  }
  return values;
}

void expect_values(const std::vector<double>& actual, const std::vector<double>& expected,
                   double tolerance = 0) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(actual[i])) << i << ": " << actual[i];
    } else if (std::isinf(expected[i])) {
      EXPECT_EQ(actual[i], expected[i]) << i;
    } else {
      EXPECT_NEAR(actual[i], expected[i], tolerance) << i;
    }
  }
}

TEST(CompilerCases, B002LargeScaleBeforeSoftmax) {
  expect_values(run(R"(%x = input "x" : f32[1, 3]
    %s = aten.mul.Scalar(self=%x, other=1e14) : f32[1, 3]
    %r = aten.softmax.int(self=%s, dim=-1) : f32[1, 3])",
                    {tensor(DType::kF32, {1, 3}, {3, 1, 2})}),
                {1, 0, 0});
  expect_values(run(R"(%x = input "x" : f32[2, 1]
    %s = aten.mul.Scalar(self=%x, other=-1.7197e14) : f32[2, 1]
    %r = aten.softmax.int(self=%s, dim=-1) : f32[2, 1])",
                    {tensor(DType::kF32, {2, 1}, {5, -7})}),
                {1, 1});
}

TEST(CompilerCases, B002SoftmaxSubtractsTheMaximumOfTheScaledScores) {
  const Graph passed = run_pipeline(graph_of(R"(%x = input "x" : f32[1, 3]
    %s = aten.mul.Scalar(self=%x, other=1e14) : f32[1, 3]
    %r = aten.softmax.int(self=%s, dim=-1) : f32[1, 3])"));
  std::vector<std::string> ops;
  for (const Node& node : passed.nodes()) ops.push_back(node.op);
  EXPECT_EQ(ops, (std::vector<std::string>{"", "aten.mul.Scalar", "aten.amax.default",
                                           "aten.sub.Tensor", "aten.exp.default",
                                           "aten.sum.dim_IntList", "aten.div.Tensor"}));
}

TEST(CompilerCases, B004DivisionByATinyNegativeBeforeSoftmax) {
  std::vector<double> data;
  for (int i = 0; i < 64; ++i) data.push_back(std::sin(i * 0.7));
  for (const double x : run(R"(%x = input "x" : f32[1, 8, 8]
    %t = aten.transpose.int(self=%x, dim0=1, dim1=2) : f32[1, 8, 8]
    %s = aten.bmm.default(self=%x, mat2=%t) : f32[1, 8, 8]
    %d = aten.div.Scalar(self=%s, other=-1e-4) : f32[1, 8, 8]
    %p = aten.softmax.int(self=%d, dim=-1) : f32[1, 8, 8]
    %r = aten.bmm.default(self=%p, mat2=%x) : f32[1, 8, 8])",
                            {tensor(DType::kF32, {1, 8, 8}, data)}, 1e-6)) {
    EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(CompilerCases, B008InfiniteBounds) {
  expect_values(run(R"(%x = input "x" : f32[3]
    %r = aten.clamp.default(self=%x, min=-0.5, max=inf) : f32[3])",
                    {list(DType::kF32, {-1, 0.25, kInf})}),
                {-0.5, 0.25, kInf});
  expect_values(run(R"(%x = input "x" : f32[2]
    %r = aten.full_like.default(self=%x, fill_value=nan) : f32[2])",
                    {list(DType::kF32, {1, 2})}),
                {kNan, kNan});
}

TEST(CompilerCases, B012FloatFloorDivisionByTheRemainder) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const std::string type(name_of(dtype));
    expect_values(run("%x = input \"x\" : " + type + "[3]\n%y = input \"y\" : " + type +
                          "[3]\n%r = aten.div.Tensor_mode(self=%x, other=%y, "
                          "rounding_mode=\"floor\") : " +
                          type + "[3]",
                      {list(dtype, {1, 0.5, 6}), list(dtype, {0.1, 0.1, 0.2})}),
                  {9, 4, 29});
  }
}

TEST(CompilerCases, B014FloorDivisionWithInfinityAndZero) {
  expect_values(run(R"(%x = input "x" : f32[3]
    %r = aten.div.Scalar_mode(self=%x, other=1, rounding_mode="floor") : f32[3])",
                    {list(DType::kF32, {kNan, kInf, -kInf})}),
                {kNan, kNan, kNan});
  expect_values(run(R"(%x = input "x" : f32[3]
    %r = aten.div.Scalar_mode(self=%x, other=0, rounding_mode="floor") : f32[3])",
                    {list(DType::kF32, {1, -1, 0})}),
                {kInf, -kInf, kNan});
}

TEST(CompilerCases, B016IntegerDivisionByZeroIsAnErrorAndNeverAKernel) {
  const Graph graph = graph_of(R"(%x = input "x" : i64[1]
    %y = input "y" : i64[1]
    %r = aten.floor_divide.default(self=%x, other=%y) : i64[1])");
  const std::vector<HostTensor> inputs = {list(DType::kI64, {1}), list(DType::kI64, {0})};
  const auto result = interpret_reference(graph, {}, inputs);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.refusal().reason.find("division by zero"), std::string::npos);
  const Graph passed = run_pipeline(graph);
  EXPECT_EQ(class_of(passed, passed.nodes().back()), OpClass::kExtern);
}

TEST(CompilerCases, B018RemainderRoundsItsScalarToTheTensorsType) {
  for (const char* op : {"remainder", "fmod"}) {
    expect_values(run("%x = input \"x\" : bf16[2]\n%r = aten." + std::string(op) +
                          ".Scalar(self=%x, other=1.7) : bf16[2]",
                      {list(DType::kBF16, {1.703125, -1.703125})}),
                  {0, 0});
  }
  expect_values(run(R"(%x = input "x" : f16[1]
    %r = aten.fmod.Scalar(self=%x, other=2.3) : f16[1])",
                    {list(DType::kF16, {6.80078125})}),
                {2.19921875});
}

TEST(CompilerCases, B020SignsOfRemainderAndFmod) {
  expect_values(run(R"(%x = input "x" : i64[4]
    %y = input "y" : i64[4]
    %r = aten.remainder.Tensor(self=%x, other=%y) : i64[4])",
                    {list(DType::kI64, {-7, 7, -7, 7}), list(DType::kI64, {3, -3, -3, 3})}),
                {2, -2, -1, 1});
  expect_values(run(R"(%x = input "x" : i64[2]
    %y = input "y" : i64[2]
    %r = aten.fmod.Tensor(self=%x, other=%y) : i64[2])",
                    {list(DType::kI64, {-7, 7}), list(DType::kI64, {3, -3})}),
                {-1, 1});
  expect_values(run(R"(%x = input "x" : f32[2]
    %y = input "y" : f32[2]
    %r = aten.remainder.Tensor(self=%x, other=%y) : f32[2])",
                    {list(DType::kF32, {-7.5, 7.5}), list(DType::kF32, {3, -3})}),
                {1.5, -1.5});
}

TEST(CompilerCases, B024ByteNegationWrapsBeforeTheFloat) {
  expect_values(run(R"(%x = input "x" : u8[1]
    %y = input "y" : f32[1]
    %n = aten.neg.default(self=%x) : u8[1]
    %r = aten.add.Tensor(self=%n, other=%y) : f32[1])",
                    {list(DType::kU8, {7}), list(DType::kF32, {1.5})}),
                {250.5});
}

TEST(CompilerCases, B026FloatToIntegerOutOfRange) {
  expect_values(run(R"(%x = input "x" : f32[5]
    %r = aten.to.dtype(self=%x, dtype=u8) : u8[5])",
                    {list(DType::kF32, {-2.7, 255.9, 256.5, 300, -300})}),
                {254, 255, 0, 44, 212});
  const double least = INT32_MIN;
  expect_values(run(R"(%x = input "x" : f32[4]
    %r = aten.to.dtype(self=%x, dtype=i32) : i32[4])",
                    {list(DType::kF32, {kNan, kInf, -kInf, 3e9})}),
                {least, least, least, least});
}

TEST(CompilerCases, B028LogSoftmaxOfTenColumns) {
  const auto values =
      run(R"(%x = input "x" : f64[1, 10]
    %r = aten.log_softmax.int(self=%x, dim=1) : f64[1, 10])",
          {tensor(DType::kF64, {1, 10}, {-0.2, 3, 1.2, -1.1, 0, 0.2, -3, -1.2, 1.1, 0})}, 1e-12);
  ASSERT_EQ(values.size(), 10U);
  EXPECT_NEAR(values[0], -3.638294, 1e-6);
  EXPECT_NEAR(values[1], -0.438294, 1e-6);
}

TEST(CompilerCases, B030ExplicitLowPrecisionCastStays) {
  expect_values(run(R"(%x = input "x" : f32[1]
    %h = aten.to.dtype(self=%x, dtype=bf16) : bf16[1]
    %r = aten.to.dtype(self=%h, dtype=f32) : f32[1])",
                    {list(DType::kF32, {1.001953125})}),
                {1});
}

TEST(CompilerCases, B034FirstNanWinsArgmax) {
  expect_values(run(R"(%x = input "x" : f32[4]
    %r = aten.argmax.default(self=%x) : i64[])",
                    {list(DType::kF32, {3, kNan, 1, 5})}),
                {1});
  expect_values(run(R"(%x = input "x" : f32[3]
    %r = aten.argmin.default(self=%x) : i64[])",
                    {list(DType::kF32, {kInf, kNan, -kInf})}),
                {1});
}

TEST(CompilerCases, B038SumOverAStrideZeroInput) {
  HostTensor one = list(DType::kF32, {1});
  one.sizes = {2, 3};
  one.strides = {0, 0};
  const Graph graph = graph_of(R"(%x = input "x" : f32[2, 3]
    %r = aten.sum.dim_IntList(self=%x, dim=[0]) : f32[3])");
  const auto outputs = interpret_reference(graph, {}, std::vector<HostTensor>{one});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(outputs.value()[0].sizes, (std::vector<std::int64_t>{3}));
  EXPECT_TRUE(outputs.value()[0].is_contiguous());
  EXPECT_EQ(element_as_double(outputs.value()[0], 2), 2);
}

TEST(CompilerCases, B040EmptyReductions) {
  const std::vector<HostTensor> none = {list(DType::kF32, {})};
  const auto over_all = [&](const std::string& op, const std::string& type) {
    return run("%x = input \"x\" : f32[0]\n%r = aten." + op + "(self=%x) : " + type + "[]", none);
  };
  expect_values(over_all("sum.default", "f32"), {0});
  expect_values(over_all("prod.default", "f32"), {1});
  expect_values(over_all("mean.default", "f32"), {kNan});
  expect_values(over_all("any.default", "bool"), {0});
  expect_values(over_all("all.default", "bool"), {1});
  expect_values(over_all("var.correction", "f32"), {kNan});
  expect_values(run("%x = input \"x\" : f32[2, 0]\n%r = aten.mean.dim(self=%x, dim=[1]) : f32[2]",
                    {tensor(DType::kF32, {2, 0}, {})}),
                {kNan, kNan});
  expect_values(
      run("%x = input \"x\" : f32[0, 3]\n%r = aten.amax.default(self=%x, dim=[1]) : f32[0]",
          {tensor(DType::kF32, {0, 3}, {})}),
      {});
  Graph graph("g");
  const ValueId x =
      graph.add_input("x", {DType::kF32, {graph.syms.constant(0), graph.syms.constant(3)}});
  EXPECT_FALSE(add_checked(graph, "aten.amax.default",
                           {{"self", x}, {"dim", std::vector<Sym>{graph.syms.constant(0)}}})
                   .ok());
}

TEST(CompilerCases, B042ConcatenationWithEmptyTensors) {
  const auto sizes = [](const std::string& a, const std::string& b, const std::string& result,
                        const std::string& dim) {
    return graph_of("%a = input \"a\" : " + a + "\n%b = input \"b\" : " + b +
                    "\n%r = aten.cat.default(tensors=[%a, %b], dim=" + dim + ") : " + result);
  };
  EXPECT_TRUE(verify(sizes("f32[0]", "f32[1, 8, 0, 78]", "f32[1, 8, 0, 78]", "-2")).empty());
  EXPECT_TRUE(verify(sizes("f32[0, 3]", "f32[2, 3]", "f32[2, 3]", "0")).empty());
  EXPECT_TRUE(verify(sizes("i64[2]", "f32[2]", "f32[4]", "0")).empty());
  expect_values(run(R"(%a = input "a" : i64[2]
    %b = input "b" : f32[1]
    %c = input "c" : f32[0]
    %r = aten.cat.default(tensors=[%a, %c, %b]) : f32[3])",
                    {list(DType::kI64, {1, 2}), list(DType::kF32, {0.5}), list(DType::kF32, {})}),
                {1, 2, 0.5});
}

std::vector<double> layer_norm(const std::vector<double>& row) {
  const std::string size = std::to_string(row.size());
  return run("%x = input \"x\" : f32[1, " + size +
                 "]\n%r = aten.layer_norm.default(input=%x, normalized_shape=[" + size +
                 "]) : f32[1, " + size + "]",
             {tensor(DType::kF32, {1, static_cast<std::int64_t>(row.size())}, row)}, 1e-3);
}

TEST(CompilerCases, B044VarianceWhenTheMeanDwarfsTheSpread) {
  std::vector<double> near;
  for (int i = 0; i < 16; ++i) near.push_back(1e4 + i * 1e-3);
  EXPECT_NEAR(layer_norm(near)[0], -1.33133, 1e-4);
  std::vector<double> far;
  for (int i = 0; i < 256; ++i) far.push_back(1e6 + i * 1e-3);
  EXPECT_NEAR(layer_norm(far)[0], -1.63071, 1e-4);
  for (const double x : layer_norm(std::vector<double>(16, 1e15))) EXPECT_EQ(x, 0);
  for (const double x : layer_norm(std::vector<double>(7, 0.1))) EXPECT_NEAR(x, 0, 1e-6);
}

TEST(CompilerCases, B046SumsAndMeansOfManyElements) {
  const auto over_ones = [](const std::string& op, DType dtype, std::int64_t count) {
    const std::string type(name_of(dtype));
    return run("%x = input \"x\" : " + type + "[" + std::to_string(count) + "]\n%r = aten." + op +
                   ".default(self=%x) : " + type + "[]",
               {list(dtype, std::vector<double>(static_cast<std::size_t>(count), 1.0))});
  };
  expect_values(over_ones("sum", DType::kBF16, 1000), {1000});
  expect_values(over_ones("mean", DType::kF16, 70000), {1});
  expect_values(over_ones("sum", DType::kF32, (1 << 20) + 2), {(1 << 20) + 2});
}

TEST(CompilerCases, B046ShortFloatsAccumulateInF32) {
  const Graph passed = run_pipeline(graph_of(R"(%x = input "x" : f16[70000]
    %r = aten.mean.default(self=%x) : f16[])"));
  for (const Node& node : passed.nodes()) {
    if (node.op != "aten.sum.dim_IntList") continue;
    EXPECT_EQ(passed.type(node.outputs.front()).dtype, DType::kF32);
    return;
  }
  FAIL() << "no sum in\n" << print_graph(passed);
}

TEST(CompilerCases, B048FlipIsNeverInPlace) {
  expect_values(run(R"(%a = input "a" : f32[4]
    %f = aten.flip.default(self=%a, dims=[0]) : f32[4]
    %r = aten.copy.default(self=%a, src=%f) : f32[4])",
                    {list(DType::kF32, {1, 2, 3, 4})}),
                {4, 3, 2, 1});
}

}  // namespace
}  // namespace breakeven
