#include <gtest/gtest.h>

#include "compiler/torch/torch_backend.h"
#include "tests/models/safetensors.h"

namespace breakeven {
namespace {

class AtenBackend : public testing::Test {
 protected:
  std::unique_ptr<ExternOp> bind(std::vector<ValueId> outputs) {
    auto bound = backend_->bind(graph_, graph_.node_of(outputs.front()));
    EXPECT_TRUE(bound.ok()) << (bound.ok() ? "" : bound.refusal().reason);
    return bound.ok() ? std::move(bound).value() : nullptr;
  }
  static Result<std::vector<HostTensor>> run(ExternOp& op, const std::vector<HostTensor>& operands,
                                             std::span<const std::int64_t> symbols,
                                             std::size_t output_count = 1) {
    std::vector<HostTensor> outputs(output_count);
    std::vector<const HostTensor*> from;
    std::vector<HostTensor*> to;
    for (const HostTensor& operand : operands) from.push_back(&operand);
    for (HostTensor& output : outputs) to.push_back(&output);
    const auto done = op.run(from, symbols, to);
    if (!done.ok()) return done.refusal();
    return outputs;
  }
  static HostTensor row(std::vector<float> values) {
    HostTensor tensor = HostTensor::empty(DType::kF32, {static_cast<std::int64_t>(values.size())});
    std::copy(values.begin(), values.end(), tensor.as<float>());
    return tensor;
  }

  std::unique_ptr<ExternBackend> backend_ = make_aten_backend();
  Graph graph_{"test"};
  Sym n_ = graph_.syms.symbol("n", {1, 64}, 2);
  TensorType type_{DType::kF32, {n_}};
  ValueId x_ = graph_.add_input("x", type_);
  ValueId y_ = graph_.add_input("y", type_);
};

TEST_F(AtenBackend, RunsAnOpWithTensorAndScalarArguments) {
  const auto op = bind(
      graph_.add_op("aten.add.Tensor", {{"self", x_}, {"other", y_}, {"alpha", 2.0}}, {type_}));
  const std::int64_t symbols[] = {3};
  for (int round = 0; round < 3; ++round) {  // Fresh operands each time.
    const float add = static_cast<float>(round);
    const auto outputs = run(*op, {row({1, 2, 3}), row({add, 10, 20})}, symbols);
    ASSERT_TRUE(outputs.ok()) << outputs.refusal().reason;
    EXPECT_EQ(element_as_double(outputs.value()[0], 0), 1 + 2 * round);
    EXPECT_EQ(element_as_double(outputs.value()[0], 2), 43);
  }
}

TEST_F(AtenBackend, NumbersWhereTheSchemaTakesTensors) {
  const auto real = bind(graph_.add_op("aten.mul.Tensor", {{"self", x_}, {"other", 2.5}}, {type_}));
  const auto symbol =
      bind(graph_.add_op("aten.mul.Tensor", {{"self", x_}, {"other", n_}}, {type_}));
  const std::int64_t symbols[] = {2};
  const auto half = run(*real, {row({1, 2})}, symbols).value()[0];
  EXPECT_EQ(half.dtype, DType::kF32);  // A number does not widen the tensor.
  EXPECT_EQ(element_as_double(half, 1), 5);
  const auto twice = run(*symbol, {row({1, 2})}, symbols).value()[0];
  EXPECT_EQ(twice.dtype, DType::kF32);
  EXPECT_EQ(element_as_double(twice, 1), 4);
}

TEST_F(AtenBackend, SymbolicSizesAreFilledEachCall) {
  const Sym half = graph_.syms.floor_div(n_, graph_.syms.constant(2));
  const auto op = bind(graph_.add_op(
      "aten.view.default", {{"self", x_}, {"size", std::vector{graph_.syms.constant(2), half}}},
      {{DType::kF32, {graph_.syms.constant(2), half}}}));
  for (const std::int64_t n : {4, 6, 2}) {
    const HostTensor input = HostTensor::zeros(DType::kF32, {n});
    const std::int64_t symbols[] = {n};
    const auto outputs = run(*op, {input}, symbols);
    ASSERT_TRUE(outputs.ok()) << outputs.refusal().reason;
    EXPECT_EQ(outputs.value()[0].sizes, (std::vector<std::int64_t>{2, n / 2}));
  }
}

TEST_F(AtenBackend, AViewOwnsItsOperandsStorage) {
  const auto op =
      bind(graph_.add_op("aten.unsqueeze.default", {{"self", x_}, {"dim", graph_.syms.constant(0)}},
                         {{DType::kF32, {graph_.syms.constant(1), n_}}}));
  HostTensor output;
  std::weak_ptr<void> storage;
  {
    const HostTensor input = row({7, 8, 9});
    storage = input.storage;
    const std::int64_t symbols[] = {3};
    output = run(*op, {input}, symbols).value()[0];
    EXPECT_EQ(output.data, input.data);
  }
  EXPECT_FALSE(storage.expired());
  EXPECT_EQ(element_as_double(output, 2), 9);
  output = {};
  EXPECT_TRUE(storage.expired());  // The op itself keeps nothing.
}

TEST_F(AtenBackend, ListsMayHaveGaps) {
  const ValueId index = graph_.add_input("i", {DType::kI64, {graph_.syms.constant(2)}});
  const ValueId matrix = graph_.add_input("m", {DType::kF32, {n_, n_}});
  const auto op = bind(graph_.add_op(
      "aten.index.Tensor", {{"self", matrix}, {"indices", std::vector<ValueId>{{}, index}}},
      {{DType::kF32, {n_, graph_.syms.constant(2)}}}));
  HostTensor values = HostTensor::empty(DType::kF32, {2, 2});
  for (int i = 0; i < 4; ++i) values.as<float>()[i] = static_cast<float>(i);
  HostTensor picks = HostTensor::zeros(DType::kI64, {2});
  picks.as<std::int64_t>()[0] = 1;
  const std::int64_t symbols[] = {2};
  const auto outputs = run(*op, {values, picks}, symbols);
  ASSERT_TRUE(outputs.ok()) << outputs.refusal().reason;
  EXPECT_EQ(element_as_double(outputs.value()[0], 0), 1);
  EXPECT_EQ(element_as_double(outputs.value()[0], 1), 0);
}

TEST_F(AtenBackend, ListsAreFlattenedIntoOutputs) {
  const auto op = bind(graph_.add_op(
      "aten.split.Tensor", {{"self", x_}, {"split_size", graph_.syms.constant(2)}},
      {{DType::kF32, {graph_.syms.constant(2)}}, {DType::kF32, {graph_.syms.constant(1)}}}));
  const std::int64_t symbols[] = {3};
  const auto outputs = run(*op, {row({1, 2, 3})}, symbols, 2);
  ASSERT_TRUE(outputs.ok()) << outputs.refusal().reason;
  EXPECT_EQ(element_as_double(outputs.value()[1], 0), 3);
  const auto wrong_count = run(*op, {row({1, 2})}, symbols, 2);
  ASSERT_FALSE(wrong_count.ok());
  EXPECT_EQ(wrong_count.refusal().code, "output_count");
}

TEST_F(AtenBackend, StridedOperandsAreRead) {
  const auto op = bind(graph_.add_op("aten.relu.default", {{"self", x_}}, {type_}));
  HostTensor strided = row({1, -2, 3, -4, 5, -6});
  strided.sizes = {3};
  strided.strides = {2};
  const std::int64_t symbols[] = {3};
  const auto outputs = run(*op, {strided}, symbols);
  EXPECT_EQ(element_as_double(outputs.value()[0], 2), 5);
}

TEST_F(AtenBackend, RefusesAtBindWhatCouldNeverRun) {
  const auto code_of = [&](const std::string& op, std::vector<Arg> args) {
    const auto outputs = graph_.add_op(op, std::move(args), {type_});
    const auto bound = backend_->bind(graph_, graph_.node_of(outputs.front()));
    return bound.ok() ? std::string("bound") : bound.refusal().code;
  };
  EXPECT_EQ(code_of("torchvision.nms.default", {{"dets", x_}}), "unknown_namespace");
  EXPECT_EQ(code_of("aten.from_file.default", {{"filename", std::string("/etc/passwd")}}),
            "unsafe_op");
  EXPECT_EQ(code_of("aten.no_such.default", {{"self", x_}}), "unknown_op");
  EXPECT_EQ(code_of("plain", {{"self", x_}}), "unknown_op");
  EXPECT_EQ(code_of("aten.relu.default", {{"input", x_}}), "unknown_argument");
  EXPECT_EQ(code_of("aten.relu.default", {}), "missing_argument");
  EXPECT_EQ(code_of("aten.unsqueeze.default", {{"self", x_}, {"dim", 1.5}}), "bad_argument");
}

TEST_F(AtenBackend, LibTorchsExceptionIsARefusal) {
  const auto op = bind(graph_.add_op("aten.add.Tensor", {{"self", x_}, {"other", y_}}, {type_}));
  const std::int64_t symbols[] = {3};
  const auto outputs = run(*op, {row({1, 2, 3}), row({1, 2})}, symbols);
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.refusal().code, "extern_failed");
  EXPECT_NE(outputs.refusal().reason.find("must match the size"), std::string::npos);
  EXPECT_TRUE(run(*op, {row({1, 2, 3}), row({1, 2, 4})}, symbols).ok());
}

}  // namespace
}  // namespace breakeven
