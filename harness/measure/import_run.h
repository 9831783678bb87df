#pragma once

#include <filesystem>

#include "harness/scenario/scenario.h"
#include "reports/schema/results.h"

namespace breakeven {

/// Results of a user's own service, from a CSV with a row a request, in order of arrival within
/// each (arm, phase, process):
///   arm, arrival_s, latency_ms, shape   required; arrival counts from the start of its process
///   phase        cold, warm_disk, steady or traffic; without it every row is warm traffic
///   process      which process served it, 0, 1, ...; without it all were one
///   service_ms   time in service; without it the latency, which is right where nothing queued
///   compile_ms   compile work inside the service time
/// The first arm that appears is the baseline. `accuracy` (may be empty) is a CSV of arm, shape,
/// rmse_eager, rmse_arm and limit: how far results are from fp64, as the user compared them.
/// Prices, SLO, life and policy are the scenario's. Writes results.json and raw files into
/// `directory`. Throws UserError with every place at fault.
Results import_run(const Scenario& scenario, const std::filesystem::path& csv,
                   const std::filesystem::path& accuracy, const std::filesystem::path& directory);

}  // namespace breakeven
