#include <gtest/gtest.h>

#include <map>

#include "harness/traffic/traffic.h"
#include "tests/unit/scenario/scenario_files.h"

namespace breakeven {
namespace {

Scenario two_dims() {
  Scenario scenario;
  scenario.dims = {{"batch", 1, 8}, {"length", 4, 64}};
  return scenario;
}

TEST(Shapes, DistributionIsExactAndSorted) {
  Scenario scenario = two_dims();
  scenario.shapes["batch"] = {.kind = DimSource::Kind::kList, .list = {{1, 3}, {2, 1}}};
  scenario.shapes["length"] = {.kind = DimSource::Kind::kList, .list = {{8, 1}, {16, 1}}};
  const std::vector<WeightedShape> shapes = shape_distribution(scenario);
  ASSERT_EQ(shapes.size(), 4u);
  EXPECT_EQ(shapes[0].shape, (ShapeBinding{1, 8}));  // Ties in order of sizes.
  EXPECT_DOUBLE_EQ(shapes[0].probability, 0.375);
  EXPECT_EQ(shapes[3].shape, (ShapeBinding{2, 16}));
  EXPECT_EQ(shape_text(scenario, shapes[3].shape), "batch=2 length=16");
}

TEST(Shapes, DimsWithoutSourceStayAtTheirMin) {
  const Scenario scenario = two_dims();
  EXPECT_EQ(shape_distribution(scenario)[0].shape, (ShapeBinding{1, 4}));
}

TEST(Shapes, ColumnsOfOneTraceComeTogether) {
  const ScenarioFiles files;
  const std::string file = files.write("pairs.csv", "b,l\n1,8\n2,16\n1,8\n").string();
  Scenario scenario = two_dims();
  scenario.shapes["batch"] = {
      .kind = DimSource::Kind::kTraceColumn, .file = file, .value_column = "b"};
  scenario.shapes["length"] = {
      .kind = DimSource::Kind::kTraceColumn, .file = file, .value_column = "l"};
  const std::vector<WeightedShape> shapes = shape_distribution(scenario);
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_NEAR(shapes[0].probability, 2.0 / 3, 1e-12);
  ShapeStream stream(scenario, 1);
  for (int i = 0; i < 100; ++i) {
    const ShapeBinding shape = stream.next();
    EXPECT_EQ(shape[0] == 1, shape[1] == 8);
  }
  scenario.shape_order = "published";
  ShapeStream published(scenario, 1, 1);
  EXPECT_EQ(published.next(), (ShapeBinding{2, 16}));
  EXPECT_EQ(published.next(), (ShapeBinding{1, 8}));
  EXPECT_EQ(published.next(), (ShapeBinding{1, 8}));
}

TEST(Shapes, DrawsFollowTheDistribution) {
  for (const DimSource& source :
       {DimSource{.kind = DimSource::Kind::kList, .list = {{8, 7}, {16, 2}, {32, 1}}},
        DimSource{.kind = DimSource::Kind::kLogNormal, .mu = 2.5, .sigma = 0.6}}) {
    Scenario scenario = two_dims();
    scenario.shapes["length"] = source;
    std::map<ShapeBinding, int> drawn;
    ShapeStream stream(scenario, 4);
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) ++drawn[stream.next()];
    double total = 0;
    for (const WeightedShape& shape : shape_distribution(scenario)) {
      total += shape.probability;
      EXPECT_NEAR(drawn[shape.shape] / double{kDraws}, shape.probability, 0.005);
    }
    EXPECT_NEAR(total, 1, 1e-9);
  }
}

TEST(Shapes, OfTheChatbotAreThePublishedLengths) {
  const Scenario scenario =
      load_scenario(std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "scenarios/chatbot-encoder.json");
  const std::vector<WeightedShape> shapes = shape_distribution(scenario);
  EXPECT_EQ(shapes.size(), 80u);
  std::map<std::int64_t, double> by_length;
  for (const WeightedShape& shape : shapes) by_length[shape.shape[1]] = shape.probability;
  double share = 0;
  std::int64_t p50 = 0, p99 = 0;
  for (const auto& [length, probability] : by_length) {
    share += probability;
    if (p50 == 0 && share >= 0.5) p50 = length;
    if (p99 == 0 && share >= 0.99) p99 = length;
  }
  EXPECT_EQ(p50, 13);
  EXPECT_EQ(p99, 51);
  EXPECT_EQ(by_length.rbegin()->first, 98);
}

}  // namespace
}  // namespace breakeven
