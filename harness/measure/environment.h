#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace breakeven {

/// What the machine is like, by stable keys: cpu, cores, governor, kernel, memory_bytes,
/// load_average. "unknown" or "not exposed" where the system does not say.
std::map<std::string, std::string> machine_environment();

/// One, five and fifteen minutes, "0.42 0.30 0.25".
std::string load_average();

/// CPUs this process may use.
int usable_cores();

/// Hash of the program and the plugins beside it: two runs of one hash ran the same code.
std::string binary_hash();

/// "2026-12-01T03:21:00Z".
std::string utc_now();

}  // namespace breakeven
