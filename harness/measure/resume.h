#pragma once

#include <functional>
#include <string>

#include "reports/schema/results.h"

namespace breakeven {

/// Throws UserError unless `earlier` measured the same scenario, model and program on the same kind
/// of machine as `now` would; names what differs.
void check_same_run(const Results& earlier, const Results& now, const std::string& file);

/// Drops what must be done again: trials that failed or whose samples are not whole, and of a
/// repetition that is not complete all of an arm's trials when `has_cache` says that the cache of
/// its cold trial is gone.
void keep_complete_trials(Results& earlier,
                          const std::function<bool(const std::string& arm, int process)>& has_cache,
                          const std::function<bool(const Trial&)>& has_samples);

}  // namespace breakeven
