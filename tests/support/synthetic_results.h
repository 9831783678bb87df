#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reports/schema/results.h"

namespace breakeven::testing {

/// One arm of a made-up run. Times in milliseconds.
struct SyntheticArm {
  std::string name;
  double mean_service_ms = 10;   ///< Of the mean shape; other shapes scale with their length.
  double service_noise = 0.02;   ///< Relative, per request.
  double process_noise = 0.005;  ///< Relative, per process.
  double cold_start_ms = 1500;   ///< Spawn to first result, empty cache.
  double warm_start_ms = 1200;
  double compile_cold_ms = 0;  ///< Of the cold start.
  double compile_warm_ms = 0;
  double recompile_ms = 0;      ///< Stall of each new shape; 0: the arm never recompiles.
  double reload_ms = 0;         ///< Cache load of a shape that the disk cache knows.
  double accuracy_ratio = 0.4;  ///< RMSE over its limit.
};

/// A deterministic made-up run: same options, same results and raw files on every machine.
struct SyntheticOptions {
  std::vector<SyntheticArm> arms;  ///< Baseline first; empty: default_arms().
  int processes = 5;
  double rate_per_s = 20;
  double traffic_seconds = 30;
  int steady_requests = 400;
  int cold_requests = 200;
  int shapes = 30;
  double slo_p99_ms = 200;
  double restarts_per_day = 2.3;
  double usd_per_hour = 0.1;
  bool quick = false;
  std::uint64_t seed = 1;
  std::string policy_json;
  std::string scenario_name = "synthetic-encoder";
};

/// eager 12 ms, fused:static 8.5 ms with recompiles, fused:dynamic 9 ms without.
std::vector<SyntheticArm> default_arms();

/// Builds the results and, unless `directory` is empty, writes raw files and results.json there.
/// Every open-loop trial is a FIFO single-server replay, so latencies obey queueing.
Results make_synthetic(const SyntheticOptions& options, const std::filesystem::path& directory);

}  // namespace breakeven::testing
