#include <gtest/gtest.h>

#include <cstring>

#include "compiler/support/error.h"
#include "compiler/torch/torch_backend.h"
#include "tests/models/safetensors.h"

namespace breakeven {
namespace {

std::string error_of(const std::string& file) {
  try {
    import_pt2(model_file(file));
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::kBadInput);
    EXPECT_FALSE(error.diagnostics().front().fix.empty()) << file;
    EXPECT_EQ(error.diagnostics().front().file, model_file(file).string());
    return error.what();
  }
  return "no error";
}

int count_ops(const Graph& graph, std::string_view op) {
  int count = 0;
  for (const Node& node : graph.nodes()) count += node.op == op ? 1 : 0;
  return count;
}

TEST(Pt2Import, ReadsAnEncoderWithItsDims) {
  const ImportedModel model = import_pt2(model_file("small.pt2"));
  const auto& symbols = model.graph.syms.symbols();
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].name, "batch");
  EXPECT_EQ(symbols[0].range, (SymRange{1, 64}));
  EXPECT_EQ(symbols[0].hint, 2);
  EXPECT_EQ(symbols[1].name, "length");
  EXPECT_EQ(symbols[1].range, (SymRange{1, 64}));
  ASSERT_EQ(model.graph.inputs().size(), 2u);
  EXPECT_EQ(model.graph.node_of(model.graph.inputs()[0]).name, "input_ids");
  EXPECT_EQ(model.graph.type(model.graph.inputs()[0]).dtype, DType::kI64);
  EXPECT_EQ(model.graph.outputs().size(), 2u);
  EXPECT_EQ(count_ops(model.graph, "aten.linear.default"), 2 * 6 + 2);
  EXPECT_EQ(count_ops(model.graph, "aten.layer_norm.default"), 1 + 2 * 2);
  EXPECT_EQ(count_ops(model.graph, "aten.scaled_dot_product_attention.default"), 2);
  EXPECT_EQ(count_ops(model.graph, "aten._assert_tensor_metadata.default"), 0);
  EXPECT_TRUE(verify(model.graph).empty());
}

TEST(Pt2Import, LeavesDefaultsOutAndKeepsNames) {
  const ImportedModel model = import_pt2(model_file("small.pt2"));
  for (const Node& node : model.graph.nodes()) {
    if (node.op != "aten.layer_norm.default") continue;
    EXPECT_EQ(node.args[0].name, "input");
    EXPECT_EQ(std::get<double>(*find_arg(node, "eps")), 1e-12);
    EXPECT_FALSE(std::get<bool>(*find_arg(node, "cudnn_enable")));
  }
  for (const Node& node : model.graph.nodes()) {
    if (node.op == "aten.slice.Tensor") EXPECT_EQ(find_arg(node, "start"), nullptr);
  }
}

TEST(Pt2Import, WeightsHoldTheArchivesBytes) {
  const ImportedModel model = import_pt2(model_file("small.pt2"));
  const auto stored = read_safetensors(model_file("small.weights.safetensors"));
  ASSERT_GT(stored.size(), 30u);
  for (const auto& [name, tensor] : stored) {
    ASSERT_TRUE(model.weights.contains(name)) << name;
    const HostTensor& weight = model.weights.at(name);
    ASSERT_EQ(weight.dtype, tensor.dtype) << name;
    ASSERT_EQ(weight.sizes, tensor.sizes) << name;
    EXPECT_EQ(std::memcmp(weight.data, tensor.data, static_cast<std::size_t>(tensor.byte_count())),
              0)
        << name;
  }
}

TEST(Pt2Import, TextParsesBackToTheSameGraph) {
  for (const char* file : {"small.pt2", "small_eager.pt2", "small_bert.pt2", "mlp.pt2", "chain.pt2",
                           "tied.pt2", "in_place.pt2", "lists.pt2", "types.pt2", "strided.pt2"}) {
    const ImportedModel model = import_pt2(model_file(file));
    const std::string text = print_graph(model.graph);
    EXPECT_EQ(print_graph(parse_graph(text, file)), text);
  }
}

TEST(Pt2Import, TiedWeightsAreOneWeight) {
  const ImportedModel model = import_pt2(model_file("tied.pt2"));
  EXPECT_EQ(model.weights.size(), 1u);
}

TEST(Pt2Import, InPlaceOpsBecomeTheirFunctionalForm) {
  const ImportedModel model = import_pt2(model_file("in_place.pt2"));
  EXPECT_EQ(count_ops(model.graph, "aten.relu.default"), 1);
  EXPECT_EQ(count_ops(model.graph, "aten.add.Tensor"), 1);
  EXPECT_EQ(count_ops(model.graph, "aten.relu_.default"), 0);
}

TEST(Pt2Import, SizesAreExpressionsOverTheInputsDims) {
  const ImportedModel model = import_pt2(model_file("lists.pt2"));
  const Graph& graph = model.graph;
  const TensorType& padded = graph.type(graph.outputs()[4]);
  const std::int64_t values[] = {6};
  ASSERT_EQ(padded.sizes.size(), 1u);
  EXPECT_EQ(graph.syms.evaluate(padded.sizes[0], values), 30);
}

TEST(Pt2Import, RefusesDamagedArchives) {
  EXPECT_NE(error_of("no_zip.pt2").find("the file is no zip"), std::string::npos);
  EXPECT_NE(error_of("empty.pt2").find("empty"), std::string::npos);
  EXPECT_NE(error_of("truncated.pt2").find("truncated or damaged"), std::string::npos);
  EXPECT_NE(error_of("missing.pt2").find("No such file"), std::string::npos);
  EXPECT_NE(error_of("no_model.pt2").find("holds no model"), std::string::npos);
  EXPECT_NE(error_of("no_weight.pt2").find("data/weights/weight_3"), std::string::npos);
}

TEST(Pt2Import, RefusesNewerSchemas) {
  const std::string error = error_of("newer_schema.pt2");
  EXPECT_NE(error.find("newer than this program reads"), std::string::npos) << error;
  EXPECT_NE(error.find("9.17"), std::string::npos) << error;
}

TEST(Pt2Import, NamesTheLibraryOfAForeignOperator) {
  const std::string error = error_of("foreign_op.pt2");
  EXPECT_NE(error.find("torchvision::nms: no loaded library registers it; load torchvision"),
            std::string::npos)
      << error;
  EXPECT_NE(error_of("unknown_op.pt2").find("aten::no_such_op"), std::string::npos);
}

TEST(Pt2Import, RefusesGraphsThatContradictThemselves) {
  EXPECT_NE(error_of("dangling.pt2").find("nothing before it produces"), std::string::npos);
  EXPECT_NE(error_of("wrong_type.pt2").find("another result type"), std::string::npos);
  EXPECT_NE(error_of("on_cuda.pt2").find("device"), std::string::npos);
}

TEST(Pt2Import, RefusesWhatTheGraphCannotSay) {
  EXPECT_NE(error_of("mutation.pt2").find("writes in place"), std::string::npos);
  EXPECT_NE(error_of("view_write.pt2").find("writes in place to a view"), std::string::npos);
  EXPECT_NE(error_of("branch.pt2").find("subgraph"), std::string::npos);
  EXPECT_NE(error_of("data_dependent.pt2").find("depend on data"), std::string::npos);
}

}  // namespace
}  // namespace breakeven
