#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/ir/graph.h"
#include "compiler/ir/op_table.h"
#include "compiler/support/error.h"

namespace breakeven {
namespace {

constexpr const char* kExample = R"(graph "mlp" {
  sym batch in [1, 64] hint 2
  %x = input "x" : f32[batch, 512]
  %w = weight "fc1.weight" : f32[512, 512] init normal(0, 0.02, seed=1)
  %b = weight "fc1.bias" : f32[512] init zeros
  %c = constant f32[2] {1, 2.5}
  %y = aten.linear.default(input=%x, weight=%w, bias=%b) : f32[batch, 512]
  %a, %d = aten.split.Tensor(self=%y, split_size=256, dim=1) : f32[batch, 256], f32[batch, 256]
  %z = aten.full.default(size=[batch, batch*2], fill_value=-inf, dtype=f32) : f32[batch, batch*2]
  %q = aten.clamp.default(self=%c, min=-0.0, max=none) : f32[2]
  return %y, %a, %z, %q
}
)";

std::vector<Diagnostic> faults_of(std::string_view text) {
  try {
    parse_graph(text, "g.ir");
  } catch (const UserError& error) {
    return error.diagnostics();
  }
  return {};
}

TEST(GraphText, ExampleReadsBackToTheSameBytes) {
  const Graph graph = parse_graph(kExample, "mlp.ir");
  EXPECT_TRUE(verify(graph).empty());
  const std::string once = print_graph(graph);
  EXPECT_EQ(print_graph(parse_graph(once, "mlp.ir")), once);
  EXPECT_NE(once.find("%fc1.weight = weight \"fc1.weight\" : f32[512, 512] init normal(0, 0.02, "
                      "seed=1)"),
            std::string::npos)
      << once;
  EXPECT_NE(once.find("%a.0, %a.1 = aten.split.Tensor"), std::string::npos) << once;
  EXPECT_NE(once.find("min=-0.0, max=none"), std::string::npos) << once;
}

TEST(GraphText, NamesStayUniqueAndUnnamedValuesAreNumbered) {
  Graph graph("n\"a\\me\n");
  TensorType type{DType::kF32, {}};
  const ValueId x = graph.add_input("x y", type);
  graph.add_input("x_y", type);
  graph.add_op("my.op.default", {{"self", x}}, {type, type}, "x_y");
  graph.add_op("my.op.default", {{"self", x}}, {type}, "x_y");
  const auto last = graph.add_op("my.op.default", {{"self", x}}, {type}, "9 bad");
  graph.set_outputs(last);
  const std::string once = print_graph(graph);
  EXPECT_EQ(print_graph(parse_graph(once, "g.ir")), once);
  EXPECT_NE(once.find("%x_y_1 = input \"x_y\""), std::string::npos) << once;
  EXPECT_NE(once.find("return %5"), std::string::npos) << once;
}

TEST(GraphText, EveryArgumentKindReadsBack) {
  Graph graph("g");
  TensorType type{DType::kF32, {}};
  const ValueId x = graph.add_input("x", type);
  const Sym s = graph.syms.symbol("s", {INT64_MIN, SymRange::kUnbounded}, -3);
  const auto out = graph.add_op(
      "my.op.kinds",
      {{"a", std::monostate{}},
       {"b", x},
       {"c", std::vector<ValueId>{x, ValueId{}, x}},
       {"d", true},
       {"e", s},
       {"f", 1e300},
       {"g", std::vector<Sym>{s, graph.syms.constant(INT64_MIN)}},
       {"h", std::vector<double>{0.1, -0.0, 1.0, std::numeric_limits<double>::infinity()}},
       {"i", std::vector<bool>{true, false}},
       {"j", DType::kBF16},
       {"k", std::string("a\"\\\x01\xff, ) %")},
       {"l", std::vector<Sym>{}},
       {"m", std::vector<ValueId>{}},
       {"n", std::vector<double>{}},
       {"o", std::vector<bool>{}},
       {"p", std::nan("")},
       {"q", std::bit_cast<double>(0xFFF8000000000001ULL)},
       {"r", 5e-324}},
      {type});
  graph.set_outputs(out);
  const std::string once = print_graph(graph);
  const Graph again = parse_graph(once, "g.ir");
  EXPECT_EQ(print_graph(again), once);
  const Node& node = again.nodes().back();
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    EXPECT_EQ(node.args[i].value.index(), graph.nodes().back().args[i].value.index())
        << node.args[i].name;
  }
  EXPECT_EQ(std::bit_cast<std::uint64_t>(std::get<double>(*find_arg(node, "q"))),
            0xFFF8000000000001ULL);
}

// Case B008: constants survive to the bit.
TEST(GraphText, LiteralsAreBitExact) {
  for (const DType dtype : {DType::kBool, DType::kU8, DType::kI8, DType::kI16, DType::kI32,
                            DType::kI64, DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    HostTensor literal = HostTensor::empty(dtype, {64});
    std::uint64_t state = 12345;
    auto* bytes = literal.as<unsigned char>();
    for (std::int64_t i = 0; i < literal.byte_count(); ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      bytes[i] = static_cast<unsigned char>(state >> 56);
      if (dtype == DType::kBool) bytes[i] &= 1;
    }
    if (dtype == DType::kF32) {
      const float special[] = {1e-45F, -0.0F, 3.4028235e38F, HUGE_VALF, -HUGE_VALF, NAN, 0.1F};
      std::memcpy(bytes, special, sizeof(special));
    }
    Graph graph("g");
    graph.set_outputs({graph.add_constant(literal)});
    const std::string once = print_graph(graph);
    const Graph again = parse_graph(once, "g.ir");
    EXPECT_EQ(print_graph(again), once);
    const HostTensor& read = again.nodes().front().literal;
    if (dtype == DType::kF16 || dtype == DType::kBF16) continue;  // Signalling NaNs turn quiet.
    EXPECT_EQ(std::memcmp(read.data, literal.data, static_cast<std::size_t>(literal.byte_count())),
              0)
        << once;
  }
}

TEST(GraphText, AllFaultsOfAFileAtOnce) {
  const auto faults = faults_of(R"(graph "g" {
  sym s in [5, 1] hint 2
  %x = input "x" : f32[q, 4]
  %y = aten.exp.default(self=%x) : f32[4]
  %z = input "z" : f32[2, 3]
  %z = input "z2" : f32[2]
  %m = aten.mm.default(self=%z, mat2=%zz) : f32[2, 2]
  %n = aten.exp.default(self=%z) : f32[2, 4]
  %o = aten.exp.default(self=%z, self=%z) : f32[2, 3]
  return %y
}
)");
  ASSERT_EQ(faults.size(), 6U);
  EXPECT_EQ(faults[0].line, 2);
  EXPECT_EQ(faults[0].column, 7);
  EXPECT_EQ(faults[1].line, 3);  // q; %y, which uses it, is not reported again.
  EXPECT_EQ(faults[1].column, 24);
  EXPECT_EQ(faults[2].line, 6);
  EXPECT_EQ(faults[3].fix, "Did you mean %z?");
  EXPECT_EQ(faults[4].line, 8);
  EXPECT_EQ(faults[5].line, 9);
  for (const Diagnostic& fault : faults) {
    EXPECT_EQ(fault.file, "g.ir");
    EXPECT_FALSE(fault.fix.empty());
  }
}

TEST(GraphText, RangesOfSymbolsAreKept) {
  Graph graph("g");
  const Sym rows = graph.syms.symbol("s0", {3, 9}, 4);
  graph.set_outputs({graph.add_input("x", TensorType{DType::kF32, {rows}})});
  const std::string text = print_graph(graph);
  EXPECT_NE(text.find("sym s0 in [3, 9] hint 4"), std::string::npos) << text;
}

TEST(GraphText, AValueIsNotDefinedInsideItsOwnDefinition) {
  const std::string head = "graph \"g\" {\n  %a = input \"a\": f32[2]\n";
  const auto self = faults_of(head + "  %b = aten.relu.default(self=%b)\n  return %a\n}\n");
  ASSERT_EQ(self.size(), 1u);
  EXPECT_EQ(self[0].line, 3);
  EXPECT_EQ(self[0].value, "%b");
}

TEST(GraphText, HostileBytesGiveAFaultAndNothingElse) {
  EXPECT_EQ(faults_of("").size(), 2U);
  EXPECT_EQ(faults_of("graph \"g\" {\n  return\n}\n").size(), 0U);
  EXPECT_EQ(faults_of("\xff").front().message, "the file is not valid UTF-8");
  EXPECT_FALSE(faults_of("graph \"g\" {" + std::string(100000, '[') + "}").empty());
  EXPECT_FALSE(faults_of("graph \"g\" {\n %x = input \"x\" : f32[" + std::string(3000, '(') + "\n}")
                   .empty());
  EXPECT_LE(faults_of(std::string(100000, '$')).size(), 101U);
  EXPECT_FALSE(
      faults_of("graph \"g\" {\n %c = constant f32[1000000, 1000000] {}\n return %c\n}").empty());
  EXPECT_EQ(faults_of(std::string((std::size_t{64} << 20) + 1, ' ')).front().message,
            "the file is larger than 64 MiB");
  const std::string example = kExample;
  for (std::size_t length = 0; length + 2 < example.size(); ++length) {
    EXPECT_FALSE(faults_of(example.substr(0, length)).empty()) << length;
  }
}

}  // namespace
}  // namespace breakeven
