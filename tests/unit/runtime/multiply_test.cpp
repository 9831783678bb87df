#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "compiler/codegen/emit.h"
#include "compiler/runtime/kernel_cache.h"

namespace breakeven {
namespace {

using Multiply = void (*)(const float* const* rows, long long count, long long depth,
                          const float* w, float* sums);

struct Case {
  const char* driver;
  const char* cpu;
};

/// The register tiles alone, by both drivers and for each vector unit that this processor has.
class MultiplyTest : public testing::TestWithParam<Case> {};

TEST_P(MultiplyTest, AddsTheSumsOfEveryNumberOfRows) {
  const CpuTarget target{GetParam().cpu, {}};
  const bool runs = target.cpu == "x86-64-v4" ? __builtin_cpu_supports("avx512vl") != 0
                                              : __builtin_cpu_supports("fma") != 0;
  if (!runs) return;
  auto driver = make_driver({.name = GetParam().driver, .target = target});
  ASSERT_TRUE(driver.ok()) << driver.refusal().reason;
  KernelCache cache({}, *driver.value(), target);
  const ProductNest nest = product_tile(vector_unit(target));
  const KernelUnit unit = emit_multiply(nest);
  const auto kernel = cache.get(unit.text, unit.entry);
  ASSERT_TRUE(kernel.ok()) << kernel.refusal().reason;
  const auto multiply =
      reinterpret_cast<Multiply>(reinterpret_cast<void*>(kernel.value().kernel->entry()));
  const auto lanes = static_cast<std::size_t>(nest.lanes);
  for (const std::size_t depth : {1UL, 2UL, 3UL, 7UL, 512UL, 513UL, 1031UL}) {
    // One allocation each, so that a read past the end is the sanitizers' to find.
    std::vector<float> memory(lanes * depth + 16);
    const std::size_t skip = (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) / 4 % 16;
    float* panel = memory.data() + skip;
    for (std::size_t i = 0; i < lanes * depth; ++i) panel[i] = static_cast<float>(i % 13) - 6;
    for (std::size_t count = 0; count <= 31; ++count) {
      std::vector<std::vector<float>> rows(count, std::vector<float>(depth));
      std::vector<const float*> starts;
      for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t k = 0; k < depth; ++k) rows[r][k] = static_cast<float>((r + k) % 5) - 2;
        starts.push_back(rows[r].data());
      }
      alignas(64) float sums[31 * 32 + 32];
      std::fill(std::begin(sums), std::end(sums), 1.0F);
      multiply(starts.data(), static_cast<long long>(count), static_cast<long long>(depth), panel,
               sums);
      for (std::size_t i = 0; i < std::size(sums); ++i) {
        // Small whole numbers: every order of adding gives the same.
        float want = 1;
        const std::size_t r = i / lanes;
        for (std::size_t k = 0; r < count && k < depth; ++k) {
          want += rows[r][k] * panel[k * lanes + i % lanes];
        }
        ASSERT_EQ(sums[i], want) << "depth " << depth << ", " << count << " rows, sum " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(DriversAndUnits, MultiplyTest,
                         testing::Values(Case{"system", "x86-64-v3"}, Case{"system", "x86-64-v4"},
                                         Case{"auto", "x86-64-v3"}, Case{"auto", "x86-64-v4"}),
                         [](const auto& info) {
                           return std::string(info.param.driver) +
                                  (std::string(info.param.cpu).ends_with("3") ? "_avx2"
                                                                              : "_avx512");
                         });

}  // namespace
}  // namespace breakeven
