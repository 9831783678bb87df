#pragma once

#include "harness/executors/executor.h"

namespace breakeven {

/// The arm aot-inductor: packaged by Python into the trial's cache directory unless a package is
/// there, then loaded and run by LibTorch alone.
std::unique_ptr<Executor> make_aot_executor(const std::string& arm, const ExecutorContext& context);

}  // namespace breakeven
