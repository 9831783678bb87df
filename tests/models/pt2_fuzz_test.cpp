#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/torch/torch_backend.h"
#include "tests/models/safetensors.h"

namespace breakeven {
namespace {

/// Imports the bytes and, when that works, serves a request. Either may refuse; neither may end the
/// process. Returns whether the import went through.
bool survives(const std::filesystem::path& file, const std::string& bytes,
              const std::vector<HostTensor>& inputs) {
  std::ofstream(file, std::ios::binary) << bytes;  // No fsync: it would be most of the time.
  try {
    const ImportedModel model = import_pt2(file);
    EXPECT_EQ(print_graph(parse_graph(print_graph(model.graph), "fuzz")), print_graph(model.graph));
    EagerModel eager(model.graph, model.weights);
    (void)eager.run(inputs).ok();
    return true;
  } catch (const UserError& error) {
    EXPECT_FALSE(error.diagnostics().empty());
    return false;
  }
}

class Pt2Fuzz : public testing::Test {
 protected:
  Pt2Fuzz()
      : bytes_(read_file(model_file("small.pt2"))),
        inputs_(read_cases(model_file("small.safetensors"))[2].inputs) {}

  TempDir dir_{"breakeven-fuzz"};
  std::filesystem::path file_ = dir_.path() / "fuzz.pt2";
  std::string bytes_;
  std::vector<HostTensor> inputs_;
};

TEST_F(Pt2Fuzz, AnyBytesChanged) {
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 150; ++round) {
    std::string changed = bytes_;
    const int edits = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < edits; ++i) {
      // Half of the edits go into the zip directory at the end, where sizes and offsets lie.
      const std::size_t span = random() % 2 == 0 ? changed.size() : 4000;
      changed[changed.size() - 1 - random() % span] = static_cast<char>(random());
    }
    refused += survives(file_, changed, inputs_) ? 0 : 1;
  }
  EXPECT_GT(refused, 10);
}

TEST_F(Pt2Fuzz, TheModelsJsonChanged) {
  const std::size_t begin = bytes_.find("{\"graph_module\"");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = bytes_.find("\"torch_version\"", begin);
  ASSERT_NE(end, std::string::npos);
  constexpr std::string_view kPieces[] = {
      "0",      "9",    "-", "\"",           "}",   "]",  ",", "e", "null",
      "as_int", "true", "[", "999999999999", "Mul", "s0", "{}"};
  std::mt19937_64 random(2);
  int refused = 0, accepted = 0;
  for (int round = 0; round < 200; ++round) {
    std::string changed = bytes_;
    const std::string_view piece = kPieces[random() % std::size(kPieces)];
    changed.replace(begin + random() % (end - begin), piece.size(), piece);
    (survives(file_, changed, inputs_) ? accepted : refused) += 1;
  }
  EXPECT_GT(refused, 50);
  EXPECT_GT(accepted, 5);
}

TEST_F(Pt2Fuzz, NumbersInTheModelsJsonChanged) {
  const std::size_t begin = bytes_.find("{\"graph_module\"");
  const std::size_t end = bytes_.find("\"torch_version\"", begin);
  ASSERT_NE(end, std::string::npos);
  std::mt19937_64 random(3);
  int refused = 0;
  for (int round = 0; round < 120; ++round) {
    std::string changed = bytes_;
    std::size_t at = begin + random() % (end - begin);
    while (at < end && (changed[at] < '0' || changed[at] > '9')) ++at;
    if (at == end) continue;
    changed[at] = static_cast<char>('0' + random() % 10);
    refused += survives(file_, changed, inputs_) ? 0 : 1;
  }
  EXPECT_GT(refused, 10);
}

TEST_F(Pt2Fuzz, CutShortAnywhere) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 40; ++round) {
    EXPECT_FALSE(survives(file_, bytes_.substr(0, random() % bytes_.size()), inputs_));
  }
}

}  // namespace
}  // namespace breakeven
