#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "compiler/ir/op_table.h"
#include "compiler/ir/reference.h"
#include "compiler/passes/passes.h"
#include "tests/ops/op_cases.h"

namespace breakeven {
namespace {

constexpr DType kSweptDTypes[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16,
                                  DType::kI64, DType::kI32, DType::kU8,  DType::kBool};
constexpr std::int64_t kSizes[] = {0, 1, 3, 40};

/// Refusals that belong to the op and not to a gap of ours.
bool is_lawful(const Refusal& refusal) {
  return refusal.reason.find("division by zero") != std::string::npos ||
         refusal.reason.find("of no element") != std::string::npos;
}

/// Empty when equal within the rounding that a rewrite may add.
std::string difference(const HostTensor& a, const HostTensor& b, DType dtype) {
  if (a.sizes != b.sizes) return "sizes differ";
  const bool is_short = dtype == DType::kF16 || dtype == DType::kBF16;
  const double tolerance = is_short ? 0.05 : 1e-9;
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    const double x = element_as_double(a, i);
    const double y = element_as_double(b, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y) continue;
    if (!(std::fabs(x - y) <= tolerance * (1 + std::fabs(x)))) {
      return "element " + std::to_string(i) + ": " + std::to_string(x) + " against " +
             std::to_string(y);
    }
  }
  return "";
}

/// What run_pipeline promises about its result.
std::string broken_promise(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.kind != NodeKind::kOp) continue;
    const OpClass op_class = class_of(graph, node);
    if (op_class == OpClass::kComposite) return node.op + " is still composite";
    if (find_arg(node, "alpha") != nullptr && op_class == OpClass::kPointwise) {
      return node.op + " still has an alpha";
    }
    if (op_class == OpClass::kPointwise && node.op != "aten._to_copy.default") {
      const DType compute = compute_dtype(graph, node);
      const OpRow& row = *find_op(node.op);
      for (const Arg& arg : node.args) {
        const auto* id = std::get_if<ValueId>(&arg.value);
        if (id == nullptr) continue;
        const bool is_condition = row.compute == ComputeRule::kWhere && arg.name == "condition";
        if (graph.type(*id).dtype != (is_condition ? DType::kBool : compute)) {
          return node.op + ": operand " + arg.name + " is not in the compute dtype";
        }
      }
      for (const std::string_view operand : row.operands) {
        if (find_arg(node, operand) == nullptr) return node.op + " leaves an operand out";
      }
    }
    if (op_class == OpClass::kReduction) {
      const DType self = graph.type(std::get<ValueId>(*find_arg(node, "self"))).dtype;
      if (self != graph.type(node.outputs.front()).dtype) return node.op + " converts";
    }
  }
  return "";
}

TEST(OpSweep, EveryRowHasACase) {
  std::set<std::string_view> covered;
  for (const OpCase& op_case : op_cases()) {
    EXPECT_NE(find_op(op_case.op), nullptr) << op_case.op;
    covered.insert(op_case.op);
  }
  for (const OpRow& row : op_table()) EXPECT_TRUE(covered.contains(row.name)) << row.name;
}

TEST(OpSweep, EveryCaseHasATypeAndAReferenceInSomeDType) {
  for (const OpCase& op_case : op_cases()) {
    bool runs = false;
    for (const DType dtype : kSweptDTypes) {
      const Result<Graph> graph = build_case(op_case, dtype, 3, false);
      if (!graph.ok()) continue;
      EXPECT_TRUE(verify(graph.value()).empty()) << describe(op_case, dtype, 3);
      const auto outputs =
          interpret_reference(graph.value(), {}, make_case_inputs(op_case, dtype, 3));
      runs = runs || outputs.ok();
      EXPECT_TRUE(outputs.ok()) << describe(op_case, dtype, 3) << ": " << outputs.refusal().reason;
    }
    EXPECT_TRUE(runs) << op_case.op << "(" << op_case.args << ")";
  }
}

void check_pipeline(const OpCase& op_case, DType dtype, std::int64_t size, bool is_symbolic) {
  const Result<Graph> built = build_case(op_case, dtype, size, is_symbolic);
  if (!built.ok()) return;
  SCOPED_TRACE(describe(op_case, dtype, size) + (is_symbolic ? " symbolic" : ""));
  const Graph& graph = built.value();
  const std::string text = print_graph(graph);
  ASSERT_EQ(print_graph(parse_graph(text, "case.ir")), text);
  const Graph passed = run_pipeline(graph);
  const std::string once = print_graph(passed);
  ASSERT_EQ(print_graph(parse_graph(once, "case.ir")), once);
  EXPECT_EQ(broken_promise(passed), "") << once;
  EXPECT_EQ(print_graph(run_pipeline(passed)), once) << "not idempotent";
  const std::vector<HostTensor> inputs = make_case_inputs(op_case, dtype, size);
  const auto expected = interpret_reference(graph, {}, inputs, ReferenceOutput::kF64);
  const auto actual = interpret_reference(passed, {}, inputs, ReferenceOutput::kF64);
  if (!expected.ok()) {
    EXPECT_TRUE(is_lawful(expected.refusal())) << expected.refusal().reason;
    return;
  }
  ASSERT_TRUE(actual.ok()) << actual.refusal().reason << "\n" << once;
  ASSERT_EQ(expected.value().size(), actual.value().size());
  for (std::size_t i = 0; i < expected.value().size(); ++i) {
    EXPECT_EQ(difference(expected.value()[i], actual.value()[i], dtype), "") << once;
  }
}

TEST(OpSweep, PassesKeepTheMeaningOfEveryRow) {
  for (const OpCase& op_case : op_cases()) {
    for (const DType dtype : kSweptDTypes) {
      for (const std::int64_t size : kSizes) check_pipeline(op_case, dtype, size, false);
    }
  }
}

TEST(OpSweep, PassesKeepTheMeaningUnderSymbolicSizes) {
  for (const OpCase& op_case : op_cases()) {
    for (const std::int64_t size : {1, 3, 40}) check_pipeline(op_case, DType::kF32, size, true);
  }
}

}  // namespace
}  // namespace breakeven
