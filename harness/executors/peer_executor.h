#pragma once

#include "harness/executors/peer_plugin.h"

namespace breakeven {

/// Arms of PyTorch's own that run in the embedded Python: torch-eager, torchscript,
/// torch-compile:*.
ArmTable python_arms();

/// A factory's model, captured by torch.export into the trial's cache directory; the path of the
/// archive. Throws UserError with torch.export's reason when it refuses.
std::filesystem::path capture_model(const ExecutorContext& context, std::vector<Stage>& stages);

/// The factory's model in Python, eager and in fp64, for scenarios without an archive.
std::unique_ptr<AccuracyReference> make_python_reference(const ExecutorContext& context);

}  // namespace breakeven
