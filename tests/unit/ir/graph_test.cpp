#include "compiler/ir/graph.h"

#include <gtest/gtest.h>

#include "compiler/ir/host_tensor.h"
#include "compiler/ir/op_table.h"
#include "compiler/support/error.h"

namespace breakeven {
namespace {

TensorType f32(Graph& graph, std::vector<std::int64_t> sizes) {
  TensorType type{DType::kF32, {}};
  for (const std::int64_t size : sizes) type.sizes.push_back(graph.syms.constant(size));
  return type;
}

ValueId add(Graph& graph, std::string op, std::vector<Arg> args) {
  return add_checked(graph, std::move(op), std::move(args)).value().front();
}

TEST(Graph, PureOpsMergeOthersDoNot) {
  Graph graph("g");
  const ValueId x = graph.add_input("x", f32(graph, {2, 3}));
  const ValueId a = add(graph, "aten.exp.default", {{"self", x}});
  const ValueId b = add(graph, "aten.exp.default", {{"self", x}});
  EXPECT_EQ(a, b);
  const ValueId c = add(graph, "aten.mul.Scalar", {{"self", x}, {"other", 0.0}});
  const ValueId d = add(graph, "aten.mul.Scalar", {{"self", x}, {"other", -0.0}});
  EXPECT_NE(c, d);
  const auto random = graph.add_op("aten.rand_like.default", {{"self", x}}, {graph.type(x)});
  const auto again = graph.add_op("aten.rand_like.default", {{"self", x}}, {graph.type(x)});
  EXPECT_NE(random, again);
  const auto written =
      graph.add_op("aten.add_.Tensor", {{"self", x}, {"other", x}}, {graph.type(x)});
  EXPECT_NE(written,
            graph.add_op("aten.add_.Tensor", {{"self", x}, {"other", x}}, {graph.type(x)}));
  const ValueId drop =
      add(graph, "aten.dropout.default", {{"input", x}, {"p", 0.5}, {"train", true}});
  EXPECT_NE(drop, add(graph, "aten.dropout.default", {{"input", x}, {"p", 0.5}, {"train", true}}));
}

TEST(Graph, CopiesAreIndependent) {
  Graph graph("g");
  const ValueId x = graph.add_input("x", f32(graph, {2}));
  Graph copy = graph;
  add(copy, "aten.exp.default", {{"self", x}});
  copy.syms.symbol("s", {1, 2}, 1);
  EXPECT_EQ(graph.nodes().size(), 1U);
  EXPECT_TRUE(graph.syms.symbols().empty());
}

TEST(Graph, UsesCountOutputsAndListOperands) {
  Graph graph("g");
  const ValueId x = graph.add_input("x", f32(graph, {2}));
  const ValueId y = add(graph, "aten.cat.default", {{"tensors", std::vector<ValueId>{x, x}}});
  graph.set_outputs({y, x});
  EXPECT_EQ(count_uses(graph), (std::vector<int>{3, 1}));
}

TEST(Verify, ReportsWrongTypesNamesAndOutputs) {
  Graph graph("g");
  const ValueId x = graph.add_input("x", f32(graph, {2, 3}));
  EXPECT_TRUE(verify(graph).empty());
  graph.add_input("x", f32(graph, {1}));
  graph.add_op("aten.exp.default", {{"self", x}}, {f32(graph, {2, 4})});
  graph.add_op("aten.mm.default", {{"self", x}, {"mat2", x}}, {f32(graph, {2, 3})});
  graph.set_outputs({ValueId{99}});
  const std::vector<std::string> faults = verify(graph);
  ASSERT_EQ(faults.size(), 4U);
  EXPECT_NE(faults[0].find("two inputs"), std::string::npos);
  EXPECT_NE(faults[1].find("f32[2, 4]"), std::string::npos);
  EXPECT_NE(faults[2].find("inner sizes: 3 is not 2"), std::string::npos);
  EXPECT_NE(faults[3].find("output of the graph"), std::string::npos);
}

TEST(ClassOf, IntegerDivisionThatMayFailStaysExtern) {
  Graph graph("g");
  TensorType i64{DType::kI64, {graph.syms.constant(3)}};
  const ValueId x = graph.add_input("x", i64);
  const Sym s = graph.syms.symbol("s", {0, 5}, 1);
  const auto class_with = [&](ArgValue other) {
    const ValueId y = add(graph, "aten.floor_divide.default", {{"self", x}, {"other", other}});
    return class_of(graph, graph.node_of(y));
  };
  EXPECT_EQ(class_with(x), OpClass::kExtern);
  EXPECT_EQ(class_with(graph.syms.constant(0)), OpClass::kExtern);
  EXPECT_EQ(class_with(s), OpClass::kExtern);
  EXPECT_EQ(class_with(graph.syms.constant(3)), OpClass::kPointwise);
  EXPECT_EQ(class_with(0.0), OpClass::kPointwise);
}

TEST(HostTensor, SizesThatNoMemoryHoldsAreOneClearError) {
  const std::int64_t m = std::int64_t{1} << 20;
  for (const std::vector<std::int64_t>& sizes : {std::vector{m, m, m, m}, std::vector{m, m, m}}) {
    try {
      (void)HostTensor::empty(DType::kF64, sizes);
      FAIL();
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::kEnvironment);
    }
  }
}

}  // namespace
}  // namespace breakeven
