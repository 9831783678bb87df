#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "compiler/ir/reference.h"
#include "compiler/runtime/compiled_model.h"
#include "compiler/support/files.h"

namespace breakeven {
namespace {

constexpr const char* kText =
    "graph \"g\" {\n  sym m in [0, 4096] hint 8\n  %x = input \"x\" : f32[m, 24]\n"
    "  %w = weight \"w\" : f32[40, 24]\n"
    "  %l = aten.linear.default(input=%x, weight=%w) : f32[m, 40]\n  return %l\n}\n";

HostTensor counted(std::vector<std::int64_t> sizes) {
  HostTensor tensor = HostTensor::empty(DType::kF32, std::move(sizes));
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.as<float>()[i] = static_cast<float>(i % 11) / 8;
  }
  return tensor;
}

class ProductChoiceTest : public testing::Test {
 protected:
  void SetUp() override { has_fma_ = __builtin_cpu_supports("fma") != 0; }

  CompiledModel model(ShapePolicy policy = ShapePolicy::kStatic) {
    CompileOptions options;
    options.policy = policy;
    options.cache_dir = cache_.path();
    return {graph_, weights_, options, *backend_, serial_};
  }

  /// Runs so many rows, holds the answer against the reference and returns what was timed.
  std::vector<std::string> run(CompiledModel& model, std::int64_t rows) {
    const std::vector<HostTensor> inputs = {counted({rows, 24})};
    auto result = model.run(inputs);
    EXPECT_TRUE(result.ok());
    const auto want = interpret_reference(graph_, weights_, inputs);
    for (std::int64_t i = 0; i < want.value()[0].element_count(); ++i) {
      EXPECT_NEAR(result.value().outputs[0].as<float>()[i], want.value()[0].as<float>()[i], 1e-4);
    }
    return result.value().compiles.empty() ? std::vector<std::string>{}
                                           : result.value().compiles[0].choices;
  }

  std::filesystem::path file() const { return cache_.path() / "product_choices.txt"; }

  const Graph graph_ = parse_graph(kText, "linear.ir");
  const WeightMap weights_ = {{"w", counted({40, 24})}};
  TempDir cache_;
  std::unique_ptr<ExternBackend> backend_ = make_reference_backend();
  SerialFor serial_;
  bool has_fma_ = false;
};

TEST_F(ProductChoiceTest, IsMeasuredOnceAboveTheRowsThatNeedNoneAndKept) {
  if (!has_fma_) return;
  CompiledModel first = model();
  EXPECT_TRUE(run(first, 64).empty());
  const std::vector<std::string> timed = run(first, 65);
  ASSERT_EQ(timed.size(), 1u);
  EXPECT_TRUE(timed[0].starts_with("128 x 24 x 40: generated ")) << timed[0];
  EXPECT_TRUE(run(first, 100).empty()) << "the same size class";
  EXPECT_EQ(run(first, 129).size(), 1u);
  // The reference interpreter is no match for generated code.
  EXPECT_EQ(first.counters().extern_calls, 0);
  CompiledModel second = model();
  EXPECT_TRUE(run(second, 65).empty());
  EXPECT_TRUE(run(second, 256).empty());
  std::filesystem::remove(file());
  CompiledModel asked_again = model();
  EXPECT_EQ(run(asked_again, 65).size(), 1u);
}

TEST_F(ProductChoiceTest, LeavesToTheLibraryWhatItWasFasterAt) {
  if (!has_fma_) return;
  CompiledModel first = model();
  ASSERT_EQ(run(first, 65).size(), 1u);
  std::istringstream lines(read_file(file()));
  std::string header;
  std::string machine;
  std::getline(lines, header);
  lines >> machine;
  write_file_atomic(file(), header + '\n' + machine + " 128 24 40 1000 400\n");
  CompiledModel second = model();
  EXPECT_TRUE(run(second, 65).empty());
  EXPECT_EQ(second.counters().extern_calls, 1);
  ASSERT_EQ(second.fallbacks().size(), 1u);
  EXPECT_NE(second.fallbacks()[0].reason.find("128 x 24 x 40: generated 1.00"), std::string::npos)
      << second.fallbacks()[0].reason;
  // A tie keeps the generated kernel, and another machine's times say nothing of this one.
  for (const std::string& line :
       {machine + " 128 24 40 1000 900\n", "other" + machine + " 128 24 40 1000 400\n"}) {
    write_file_atomic(file(), header + '\n' + line);
    CompiledModel third = model();
    run(third, 65);
    EXPECT_EQ(third.counters().extern_calls, 0) << line;
  }
  EXPECT_NE(read_file(file()).find("other" + machine + " 128"), std::string::npos)
      << "another machine's line is lost";
}

TEST_F(ProductChoiceTest, AnUnreadableFileIsMeasuredAgain) {
  if (!has_fma_) return;
  for (const std::string text : {"", "breakeven product choices 0\nx 128 24 40 1 1\n",
                                 "breakeven product choices 1\n\xff\x00 128 24 4", "\n\n\n"}) {
    write_file_atomic(file(), text);
    CompiledModel again = model();
    EXPECT_EQ(run(again, 65).size(), 1u) << text;
  }
}

TEST_F(ProductChoiceTest, ProgramsForEverySizeNeedNone) {
  CompiledModel dynamic = model(ShapePolicy::kDynamic);
  EXPECT_TRUE(run(dynamic, 200).empty());
  EXPECT_FALSE(std::filesystem::exists(file()));
}

}  // namespace
}  // namespace breakeven
