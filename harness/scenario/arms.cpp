#include "harness/scenario/arms.h"

#include <algorithm>

namespace breakeven {
namespace {

constexpr const char* kCompile = "torch-compile";

/// torch.compile's arms by name: modes outside, shape treatments inside, frozen weights last.
std::vector<std::pair<std::string, PeerArm>> compile_arms() {
  std::vector<std::pair<std::string, PeerArm>> arms;
  for (const char* mode :
       {"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"}) {
    for (const char* shapes : {"", ":dynamic", ":mark_dynamic"}) {
      for (const char* freezing : {"", ":freezing"}) {
        const std::string treatment = shapes;
        arms.push_back({std::string(kCompile) + ':' + mode + treatment + freezing,
                        {.engine = kCompile,
                         .mode = mode,
                         .dynamic = treatment == ":dynamic",
                         .mark_dynamic = treatment == ":mark_dynamic",
                         .freezing = *freezing != '\0'}});
      }
    }
  }
  return arms;
}

std::vector<std::string> fixed_arms() {
  return {"null",          "scripted",   "reference",   "eager",       "fused:static",
          "fused:dynamic", "fused:auto", "torch-eager", "torchscript", "aot-inductor"};
}

}  // namespace

std::optional<PeerArm> parse_peer_arm(const std::string& arm) {
  if (arm == "torch-eager" || arm == "torchscript" || arm == "aot-inductor") {
    return PeerArm{.engine = arm, .mode = {}};
  }
  for (const auto& [name, parsed] : compile_arms()) {
    if (name == arm) return parsed;
  }
  return std::nullopt;
}

const std::vector<std::string>& built_arms() {
  static const std::vector<std::string> arms = [] {
    std::vector<std::string> all = fixed_arms();
    for (const auto& [name, parsed] : compile_arms()) all.push_back(name);
    return all;
  }();
  return arms;
}

const std::vector<std::string>& arm_forms() {
  static const std::vector<std::string> forms = [] {
    std::vector<std::string> all = fixed_arms();
    all.emplace_back("torch-compile:MODE[:dynamic|:mark_dynamic][:freezing]");
    return all;
  }();
  return forms;
}

}  // namespace breakeven
