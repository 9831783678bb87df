#pragma once

#include <optional>
#include <string>
#include <vector>

namespace breakeven {

/// An arm of PyTorch's own: "torch-eager", "torchscript", "aot-inductor" or
/// "torch-compile:MODE[:dynamic|:mark_dynamic][:freezing]".
struct PeerArm {
  std::string engine;  ///< The text before the first colon.
  std::string mode;    ///< Of torch-compile.
  bool dynamic = false;
  bool mark_dynamic = false;
  bool freezing = false;
};

/// Nothing for arms that are no peers, and for texts that are no arms.
std::optional<PeerArm> parse_peer_arm(const std::string& arm);

/// Every arm that a scenario may name, each way to write torch-compile included.
const std::vector<std::string>& built_arms();

/// The same for people: one line for all of torch-compile.
const std::vector<std::string>& arm_forms();

}  // namespace breakeven
