#pragma once

#include <string>

#include "harness/cli/commands.h"
#include "harness/measure/run.h"

namespace breakeven {

/// Shows a run's progress: one line written over on a terminal, else a plain line a trial.
class ProgressLine {
 public:
  explicit ProgressLine(Terminal& terminal) : terminal_(terminal) {}
  ~ProgressLine() { clear(); }
  void show(const RunProgress& progress);
  /// Removes the live line, so that other text can be printed.
  void clear();

 private:
  Terminal& terminal_;
  bool is_live_ = false;
  bool said_skipping_ = false;
};

}  // namespace breakeven
