#include "compiler/fuse/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/passes/passes.h"
#include "compiler/schedule/schedule.h"

namespace breakeven {
namespace {

struct Planned {
  Graph graph;
  FusionPlan plan;

  int count(GroupKind kind) const {
    return static_cast<int>(std::count_if(plan.groups.begin(), plan.groups.end(),
                                          [&](const Group& group) { return group.kind == kind; }));
  }
  const Group& fused(int which = 0) const {
    for (const Group& group : plan.groups) {
      if (group.kind == GroupKind::kFused && which-- == 0) return group;
    }
    ADD_FAILURE() << "no such fused group\n" << print_plan(graph, plan);
    return plan.groups.front();
  }
  bool refused_because(std::string_view words) const {
    return std::any_of(plan.refused.begin(), plan.refused.end(), [&](const RefusedEdge& edge) {
      return edge.reason.find(words) != std::string::npos;
    });
  }
  std::string text() const { return print_plan(graph, plan); }
};

Planned plan_of(const std::string& body, const FusionOptions& options = {}) {
  Planned planned{run_pipeline(parse_graph("graph \"g\" {\n  sym b in [0, 64] hint 2\n"
                                           "  sym n in [0, 512] hint 16\n" +
                                               body + "}\n",
                                           "test.ir")),
                  {}};
  planned.plan = fuse(planned.graph, options);
  return planned;
}

TEST(Fusion, SoftmaxIsOneKernelWithOneRow) {
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, n]\n"
      "  %s = aten.softmax.int(self=%x, dim=-1) : f32[b, n]\n  return %s\n");
  ASSERT_EQ(planned.count(GroupKind::kFused), 1) << planned.text();
  EXPECT_EQ(planned.count(GroupKind::kExtern), 0);
  const FusedBody& body = planned.fused().body;
  ASSERT_EQ(body.space.size(), 2u);
  EXPECT_FALSE(body.space[0].row);
  EXPECT_TRUE(body.space[1].row);
  EXPECT_EQ(body.inputs.size(), 1u);
}

TEST(Fusion, EmbeddingsSummedAndNormalisedAreOneKernel) {
  const Planned planned = plan_of(
      "  %i = input \"ids\" : i64[b, n]\n  %w = input \"w\" : f32[100, 24]\n"
      "  %p = input \"p\" : f32[512, 24]\n  %g = input \"g\" : f32[24]\n"
      "  %e = aten.embedding.default(weight=%w, indices=%i) : f32[b, n, 24]\n"
      "  %r = aten.arange.default(end=n, dtype=i64) : i64[n]\n"
      "  %u = aten.unsqueeze.default(self=%r, dim=0) : i64[1, n]\n"
      "  %q = aten.embedding.default(weight=%p, indices=%u) : f32[1, n, 24]\n"
      "  %a = aten.add.Tensor(self=%e, other=%q) : f32[b, n, 24]\n"
      "  %l = aten.layer_norm.default(input=%a, normalized_shape=[24], weight=%g, eps=1e-05) "
      ": f32[b, n, 24]\n  return %l\n");
  EXPECT_EQ(planned.count(GroupKind::kFused), 1) << planned.text();
  EXPECT_EQ(planned.count(GroupKind::kExtern), 0) << planned.text();
}

TEST(Fusion, AResidualAroundALibraryCallNeverMakesACycle) {
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, 16]\n  %w = input \"w\" : f32[16, 16]\n"
      "  %t = aten.tanh.default(self=%x) : f32[b, 16]\n"
      "  %l = aten.linear.default(input=%t, weight=%w) : f32[b, 16]\n"
      "  %a = aten.add.Tensor(self=%l, other=%t) : f32[b, 16]\n  return %a\n");
  EXPECT_EQ(planned.count(GroupKind::kFused), 2) << planned.text();
  EXPECT_EQ(planned.count(GroupKind::kExtern), 1);
  EXPECT_TRUE(planned.refused_because("cycle")) << planned.text();
}

TEST(Fusion, ASumThatIsAlsoNeededLaterIsASecondOutput) {
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, 16]\n  %y = input \"y\" : f32[b, 16]\n"
      "  %a = aten.add.Tensor(self=%x, other=%y) : f32[b, 16]\n"
      "  %s = aten.softmax.int(self=%a, dim=-1) : f32[b, 16]\n  return %a, %s\n");
  ASSERT_EQ(planned.count(GroupKind::kFused), 1) << planned.text();
  EXPECT_EQ(planned.fused().body.outputs.size(), 2u);
}

TEST(Fusion, PermuteFoldsIntoTheLoad) {
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, 16]\n"
      "  %p = aten.permute.default(self=%x, dims=[1, 0]) : f32[16, b]\n"
      "  %e = aten.exp.default(self=%p) : f32[16, b]\n  return %e\n");
  EXPECT_EQ(planned.plan.groups.size(), 1u) << planned.text();
  EXPECT_NE(planned.text().find("i0 + 16*i1"), std::string::npos) << planned.text();
}

TEST(Fusion, AReshapeThatMergesDimsStaysAView) {
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, 4, 8]\n"
      "  %e = aten.exp.default(self=%x) : f32[b, 4, 8]\n"
      "  %p = aten.permute.default(self=%e, dims=[0, 2, 1]) : f32[b, 8, 4]\n"
      "  %v = aten.reshape.default(self=%p, shape=[b, 32]) : f32[b, 32]\n"
      "  %t = aten.tanh.default(self=%v) : f32[b, 32]\n  return %t\n");
  EXPECT_EQ(planned.count(GroupKind::kFused), 2) << planned.text();
  EXPECT_GE(planned.count(GroupKind::kView), 1) << planned.text();
}

TEST(Fusion, ATableThatIsGatheredFromIsNotComputedInTheSameKernel) {
  const Planned planned = plan_of(
      "  %i = input \"ids\" : i64[n]\n  %w = input \"w\" : f32[100, 8]\n"
      "  %e = aten.exp.default(self=%w) : f32[100, 8]\n"
      "  %g = aten.embedding.default(weight=%e, indices=%i) : f32[n, 8]\n"
      "  %t = aten.tanh.default(self=%g) : f32[n, 8]\n  return %t\n");
  EXPECT_EQ(planned.count(GroupKind::kFused), 2) << planned.text();
}

TEST(Fusion, ACostlyOpIsNotRepeatedAlongABroadcastDim) {
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[16]\n  %y = input \"y\" : f32[b, 16]\n"
      "  %e = aten.exp.default(self=%x) : f32[16]\n"
      "  %m = aten.mul.Tensor(self=%e, other=%y) : f32[b, 16]\n  return %m\n");
  EXPECT_EQ(planned.count(GroupKind::kFused), 2) << planned.text();
  EXPECT_TRUE(planned.refused_because("broadcast")) << planned.text();
}

TEST(Fusion, ReductionsOfDifferentDimsAreSeparateKernels) {
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, n, 8]\n"
      "  %a = aten.amax.default(self=%x, dim=[2], keepdim=true) : f32[b, n, 1]\n"
      "  %s = aten.amax.default(self=%x, dim=[1], keepdim=true) : f32[b, 1, 8]\n"
      "  %d = aten.sub.Tensor(self=%a, other=%s) : f32[b, n, 8]\n  return %d\n");
  EXPECT_EQ(planned.count(GroupKind::kFused), 2) << planned.text();
}

TEST(Fusion, AValueNeededWholeIsNotWrittenByAGroupThatVisitsASlice) {
  const Planned column = plan_of(
      "  %x = input \"x\" : f32[b, 3]\n"
      "  %m = aten.amax.default(self=%x, dim=[0], keepdim=true) : f32[1, 3]\n"
      "  %f = aten.select.int(self=%x, dim=1, index=0) : f32[b]\n"
      "  %s = aten.select.int(self=%m, dim=1, index=0) : f32[1]\n"
      "  %d = aten.sub.Tensor(self=%f, other=%s) : f32[b]\n"
      "  %r = aten.amax.default(self=%d, dim=[0]) : f32[]\n  return %m, %r\n");
  EXPECT_TRUE(column.refused_because("in part")) << column.text();
  const Planned part = plan_of(
      "  %x = input \"x\" : f32[b, 8]\n  %e = aten.exp.default(self=%x) : f32[b, 8]\n"
      "  %s = aten.slice.Tensor(self=%e, dim=1, start=0, end=5) : f32[b, 5]\n"
      "  %n = aten.neg.default(self=%s) : f32[b, 5]\n  return %e, %n\n");
  EXPECT_TRUE(part.refused_because("in part")) << part.text();
}

TEST(Fusion, UnknownOpsAreLibraryCallsWithTheReason) {
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, 16]\n"
      "  %e = aten.exp.default(self=%x) : f32[b, 16]\n"
      "  %u = other.thing.default(self=%e) : f32[b, 16]\n"
      "  %t = aten.tanh.default(self=%u) : f32[b, 16]\n  return %t\n");
  EXPECT_EQ(planned.count(GroupKind::kExtern), 1) << planned.text();
  EXPECT_TRUE(planned.refused_because("no row")) << planned.text();
}

TEST(Fusion, SwitchedOffEveryOpIsALibraryCall) {
  FusionOptions options;
  options.fuse = false;
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, 16]\n"
      "  %s = aten.softmax.int(self=%x, dim=-1) : f32[b, 16]\n  return %s\n",
      options);
  EXPECT_EQ(planned.count(GroupKind::kFused), 0);
  EXPECT_GE(planned.count(GroupKind::kExtern), 3);
}

TEST(Fusion, EveryGroupReadsOnlyWhatRanBefore) {
  const Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, 16]\n  %w = input \"w\" : f32[16, 16]\n"
      "  %a = aten.exp.default(self=%x) : f32[b, 16]\n"
      "  %l = aten.linear.default(input=%a, weight=%w) : f32[b, 16]\n"
      "  %m = aten.mul.Tensor(self=%l, other=%a) : f32[b, 16]\n"
      "  %k = aten.linear.default(input=%m, weight=%w) : f32[b, 16]\n"
      "  %s = aten.add.Tensor(self=%k, other=%a) : f32[b, 16]\n"
      "  %z = aten.add.Tensor(self=%s, other=%m) : f32[b, 16]\n  return %z\n");
  std::vector<bool> ready(planned.graph.values().size(), false);
  for (const Node& node : planned.graph.nodes()) {
    if (node.kind == NodeKind::kOp) continue;
    for (ValueId value : node.outputs) ready[static_cast<std::size_t>(value.index)] = true;
  }
  for (const Group& group : planned.plan.groups) {
    const Node& first = planned.graph.nodes()[static_cast<std::size_t>(group.nodes[0])];
    const std::vector<ValueId> inputs =
        group.kind == GroupKind::kFused ? group.body.inputs : operands_of(first);
    for (ValueId input : inputs) {
      EXPECT_TRUE(ready[static_cast<std::size_t>(input.index)]) << planned.text();
    }
    if (group.kind != GroupKind::kFused) {
      for (ValueId value : first.outputs) ready[static_cast<std::size_t>(value.index)] = true;
    }
    for (const GroupOutput& output : group.body.outputs) {
      ready[static_cast<std::size_t>(output.value.index)] = true;
    }
  }
  for (ValueId output : planned.graph.outputs()) {
    EXPECT_TRUE(ready[static_cast<std::size_t>(output.index)]);
  }
}

TEST(ScheduleTest, DenseDimsBecomeOneLoop) {
  Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, n, 8]\n"
      "  %e = aten.exp.default(self=%x) : f32[b, n, 8]\n  return %e\n");
  const Schedule schedule = schedule_group(planned.graph, planned.fused());
  EXPECT_EQ(schedule.body.space.size(), 1u);
  EXPECT_TRUE(schedule.row_is_parallel);
}

TEST(ScheduleTest, SoftmaxKeepsItsExponentialsBetweenPasses) {
  Planned planned = plan_of(
      "  %x = input \"x\" : f32[b, n]\n"
      "  %s = aten.softmax.int(self=%x, dim=-1) : f32[b, n]\n  return %s\n");
  const Schedule schedule = schedule_group(planned.graph, planned.fused());
  EXPECT_EQ(schedule.passes, 3);  // Maximum, sum of exponentials, quotient.
  EXPECT_EQ(schedule.buffers.size(), 1u);
  EXPECT_NE(print_schedule(planned.graph, schedule), "");
}

}  // namespace
}  // namespace breakeven
