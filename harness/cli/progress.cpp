#include "harness/cli/progress.h"

#include <ostream>

#include "compiler/support/text.h"

namespace breakeven {

void ProgressLine::clear() {
  if (is_live_) terminal_.err << "\r\x1b[K" << std::flush;
  is_live_ = false;
}

void ProgressLine::show(const RunProgress& progress) {
  const std::string where = progress.trial.arm + ", " + std::string(name_of(progress.trial.kind));
  if (!progress.failure.empty()) {
    clear();
    terminal_.err << "breakeven: trial " << progress.index + 1 << " of " << progress.total << " ("
                  << where << ") failed: " << printable(progress.failure, 600) << std::endl;
    return;
  }
  if (terminal_.quiet) return;
  if (progress.skipped) {
    if (!said_skipping_) terminal_.err << "going on with the trials measured before" << std::endl;
    said_skipping_ = true;
    return;
  }
  std::string text = "trial " + std::to_string(progress.index + 1) + " of " +
                     std::to_string(progress.total) + "  " + where + ", process " +
                     std::to_string(progress.trial.process + 1) + "  about " +
                     format_duration_ns(progress.seconds_left * 1e9) + " left";
  if (terminal_.live_progress) {
    terminal_.err << '\r' << text << "\x1b[K" << std::flush;
    is_live_ = true;
  } else {
    terminal_.err << text << std::endl;
  }
}

}  // namespace breakeven
