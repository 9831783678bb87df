#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/reference.h"
#include "compiler/runtime/events.h"
#include "compiler/runtime/extern_backend.h"
#include "compiler/support/parallel.h"
#include "compiler/support/result.h"

namespace breakeven {

enum class ShapePolicy : std::uint8_t {
  kStatic,   ///< One program per exact shape.
  kDynamic,  ///< One program for every size inside the symbols' ranges.
  kAuto,     ///< Sizes are constants until they vary, each symbol for itself.
};

struct CompileOptions {
  ShapePolicy policy = ShapePolicy::kStatic;
  bool fuse = true;  ///< Off: every op extern; the fused-arm tests must then fail.
  std::string driver =
      "auto";  ///< "clang" (in process), "system", or "auto": clang where it loads.
  std::filesystem::path cache_dir;  ///< Empty: no disk cache.
  std::int64_t cache_limit_bytes = std::int64_t{1} << 30;
  int recompile_limit = 256;  ///< Programs per model; shapes past it run eagerly, counted.
  int compile_threads = 0;    ///< 0: as many as cores.
};

/// Counters since construction.
struct RuntimeCounters {
  std::int64_t programs = 0;
  std::int64_t kernels_compiled = 0;
  std::int64_t kernels_from_disk = 0;
  std::int64_t kernels_from_memory = 0;
  std::int64_t bad_cache_files = 0;  ///< Set aside: corrupt, truncated, foreign.
  std::int64_t guard_failures = 0;
  std::int64_t eager_requests = 0;
  std::int64_t kernel_launches = 0;  ///< Fused kernels run.
  std::int64_t extern_calls = 0;     ///< Library ops run.
};

/// A model under one shape policy: programs by guard, compiled when a request first needs them.
/// run() is safe from several threads; a shape asked for by many at once is compiled once.
class CompiledModel {
 public:
  /// `graph` and `weights` as imported; `backend` and `parallel` outlive the model.
  CompiledModel(Graph graph, WeightMap weights, CompileOptions options, ExternBackend& backend,
                ParallelFor& parallel);
  ~CompiledModel();

  struct RunResult {
    std::vector<HostTensor> outputs;
    std::vector<CompileEvent> compiles;  ///< Compile work done inside this call.
    bool eager = false;                  ///< Ran op by op; see fallbacks().
  };
  /// Runs one request. Refuses only what eager refuses too (wrong rank, dtype, missing input).
  Result<RunResult> run(std::span<const HostTensor> inputs);
  /// The same into `result`, whose memory serves again; `inputs` must not lie in it.
  Result<bool> run(std::span<const HostTensor> inputs, RunResult& result);

  RuntimeCounters counters() const;
  std::vector<Fallback> fallbacks() const;

  /// Fused kernels of the program that serves `inputs` (compiling it when new), for tests and the
  /// report: launches a request.
  int kernels_per_request(std::span<const HostTensor> inputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Text of one stage for `explain`: "import", a pass name, "fuse", "schedule", "source", "guards",
/// "cache". Throws UserError with the list of stages when `stage` is none of them. Shapes are taken
/// from `inputs` for the static policy.
std::string explain_stage(const Graph& graph, const WeightMap& weights,
                          const CompileOptions& options, ExternBackend& backend,
                          std::span<const HostTensor> inputs, const std::string& stage);
std::vector<std::string> explain_stages();

}  // namespace breakeven
