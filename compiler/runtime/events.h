#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/support/clock.h"

namespace breakeven {

/// A named stretch of work. Names: load, import, passes, choose, fuse, schedule, emit, compile,
/// cache_load, pack, first_run, and "unattributed" for wall time that no other stage covers.
struct Stage {
  std::string name;
  Nanos duration = 0;
};

enum class CompileTrigger : std::uint8_t {
  kFirst,      ///< First program of this model instance.
  kRecompile,  ///< A guard of every existing program failed.
};

/// One compile or cache load, with why it happened: one line of the recompile log.
struct CompileEvent {
  CompileTrigger trigger = CompileTrigger::kFirst;
  Nanos started_at = 0;
  Nanos duration = 0;
  std::string shape;                 ///< "batch=1 length=17".
  std::string failed_guard;          ///< "ids.size[1] == 13, got 17"; empty for kFirst.
  std::string origin;                ///< The pass (and policy) that wanted the guard.
  int kernels = 0;                   ///< Fused kernels of the program.
  int compiled = 0;                  ///< Of these, compiled now.
  int from_memory = 0;               ///< Found in the memory cache.
  int from_disk = 0;                 ///< Loaded from the disk cache.
  std::int64_t packed_bytes = 0;     ///< Weights of products that were packed now.
  std::vector<std::string> misses;   ///< Why each compiled kernel was not found.
  std::vector<std::string> choices;  ///< Products timed against the library now: sizes and times.
  std::vector<Stage> stages;
};

/// Something the compiler left to eager, counted by (op or shape, reason).
struct Fallback {
  std::string what;  ///< "aten.linear.default" or "batch=0 length=3".
  std::string reason;
  std::int64_t count = 0;
  bool whole_request = false;  ///< The request ran eagerly, not only one op of it.
};

}  // namespace breakeven
