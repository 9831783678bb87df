#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/reference.h"
#include "compiler/runtime/compiled_model.h"
#include "harness/executors/executor.h"

namespace breakeven {

/// A model in memory, with what loading it cost.
struct LoadedModel {
  Graph graph;
  WeightMap weights;
  std::vector<Stage> stages;  ///< "import" and "load", in the order they happened.
};

/// Reads the scenario's `.ir` file and fills its weights by their init rules. Throws UserError.
LoadedModel load_ir_model(const Scenario& scenario);
/// Throws UserError unless the scenario's model file is there; names the command that makes it.
void check_model_file(const Scenario& scenario);

/// What a fused:* arm runs on: LibTorch's dispatcher and pool, or the reference backend.
struct FusedBase {
  LoadedModel (*load)(const ExecutorContext& context) = nullptr;
  std::unique_ptr<ExternBackend> (*make_backend)() = nullptr;
  std::unique_ptr<ParallelFor> (*make_parallel)(int threads) = nullptr;
};

/// Options of "fused:static", "fused:dynamic" or "fused:auto". Throws UserError for any other arm.
CompileOptions compile_options(const std::string& arm, const ExecutorContext& context);

/// What makes kernels here, for the results' environment: "compiler" and, where it is not the
/// in-process one, "compiler_fallback" with the reason.
std::map<std::string, std::string> compiler_environment();

/// The compiler of this program, serving the scenario's model.
std::unique_ptr<Executor> make_fused_executor(const std::string& arm,
                                              const ExecutorContext& context,
                                              const FusedBase& base);

/// explain_model for any base.
std::string explain_fused(const std::string& arm, const ExecutorContext& context,
                          const FusedBase& base, std::span<const HostTensor> inputs,
                          const std::string& stage);

}  // namespace breakeven
