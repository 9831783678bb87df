#include "compiler/codegen/driver.h"

namespace breakeven {

std::string CpuTarget::to_string() const {
  std::string text = cpu;
  for (const std::string& feature : features) text += '+' + feature;
  return text;
}

CpuTarget detect_cpu() {
  CpuTarget target;
#if defined(__x86_64__)
  __builtin_cpu_init();
  target.cpu = __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
               : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
               : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                                     : "x86-64";
  if (__builtin_cpu_supports("avx512bf16")) target.features.emplace_back("avx512bf16");
#else
  target.cpu = "generic";
#endif
  return target;
}

VectorUnit vector_unit(const CpuTarget& target) {
  if (target.cpu == "x86-64-v4") return {.floats = 16, .registers = 32};
  if (target.cpu == "x86-64-v3") return {.floats = 8, .registers = 16};
  return {.floats = 4, .registers = 16, .fused_multiply_add = false};
}

}  // namespace breakeven
