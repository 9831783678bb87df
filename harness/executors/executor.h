#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/host_tensor.h"
#include "compiler/runtime/events.h"
#include "compiler/support/clock.h"
#include "harness/scenario/scenario.h"

namespace breakeven {

/// What prepare() did before the first request could be served.
struct PrepareOutcome {
  std::vector<Stage> stages;  ///< load, import, ... as they apply.
  std::vector<CompileEvent> compiles;
};

/// What one run() did.
struct RunOutcome {
  std::vector<HostTensor> outputs;
  std::vector<CompileEvent> compiles;  ///< Empty for most requests.
  bool fell_back = false;              ///< The request ran eagerly in a compiled arm.
};

/// Exact counters of one trial, by stable name: kernels_per_request, extern_calls_per_request,
/// recompiles, kernels_compiled, kernels_from_disk, graph_breaks, fallback_requests, ...
using Counters = std::map<std::string, std::int64_t>;

/// One arm's way to serve the model. Created in the trial's own process.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Loads the model and does whatever the arm does before traffic. Throws UserError.
  virtual PrepareOutcome prepare() = 0;
  /// Serves one batch; synchronises the device before it returns. Throws UserError when eager would
  /// fail as well.
  virtual RunOutcome run(std::span<const HostTensor> inputs) = 0;
  virtual Counters counters() const { return {}; }
  virtual std::vector<Fallback> fallbacks() const { return {}; }
  /// Facts for the results' environment, such as versions of what served: "python" -> "3.11.2".
  virtual std::map<std::string, std::string> facts() const { return {}; }
};

/// What an executor may need, fixed before its process starts.
struct ExecutorContext {
  const Scenario* scenario = nullptr;
  std::filesystem::path cache_dir;  ///< Private to the trial (cold) or handed on (warm_disk).
  int threads = 0;                  ///< Intra-op threads, the same for all arms.
  bool verify = false;              ///< Nothing is timed: check what the arms must have in common.
};

/// One row of the arm table: an arm, or a prefix of arms ("torch-compile:"), and how to build it.
struct ArmKind {
  std::string prefix;       ///< "eager"; with a colon at its end all arms that start so.
  std::string description;  ///< For `doctor` and error messages.
  std::function<std::unique_ptr<Executor>(const std::string& arm, const ExecutorContext&)> make;
};

/// The arms built into this program, in a fixed order; cli fills it (no global registry).
using ArmTable = std::vector<ArmKind>;
const ArmKind* find_arm(const ArmTable& table, const std::string& arm);

/// null: returns at once, the harness's own overhead. scripted: fake service times and stalls from
/// the scenario's model.script. Both without LibTorch.
ArmTable base_arms();
/// reference and fused:* on the reference backend (notorch), or eager and fused:* on ATen.
ArmTable model_arms();

/// Runs the model outside any arm, for the accuracy check. Throws UserError.
class AccuracyReference {
 public:
  virtual ~AccuracyReference() = default;
  virtual std::vector<HostTensor> run_eager(std::span<const HostTensor> inputs) = 0;
  /// All floating arithmetic and floating outputs in fp64.
  virtual std::vector<HostTensor> run_fp64(std::span<const HostTensor> inputs) = 0;
};

/// The five below live beside model_arms(), in the same library.
/// Loads the scenario's model; throws UserError.
std::unique_ptr<AccuracyReference> make_accuracy_reference(const ExecutorContext& context);
/// The graph of the scenario's model file. Throws UserError.
Graph read_graph(const Scenario& scenario);
/// Facts for the results' environment: "torch" (version), "compiler" (clang or system compiler).
/// Loads no model and starts no thread pool.
std::map<std::string, std::string> model_environment();
/// Text of one compiler stage of the scenario's model under a fused:* arm; see explain_stage.
std::string explain_model(const std::string& arm, const ExecutorContext& context,
                          std::span<const HostTensor> inputs, const std::string& stage);
/// The stages explain_model knows.
std::vector<std::string> explain_model_stages();

}  // namespace breakeven
