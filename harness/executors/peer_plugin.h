#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/host_tensor.h"
#include "compiler/support/result.h"
#include "harness/executors/executor.h"
#include "harness/scenario/arms.h"

struct BreakevenPython;

namespace breakeven {

/// The Python plugin's file, beside the program or in $BREAKEVEN_PLUGIN_DIR; empty when it is not
/// there.
std::string python_module_path();
/// Loads the plugin, and says which Python it was made for; a refusal says what is missing. Starts
/// no interpreter.
Result<std::string> probe_python();

/// One model in the embedded Python. Every member throws UserError with Python's own message when
/// Python raises; none needs the interpreter's lock.
class PythonPeer {
 public:
  /// `arm` picks what serves: the model itself, or it through torch.compile or TorchScript; other
  /// engines serve eagerly. `fp64`: weights and inputs widened.
  PythonPeer(const PeerArm& arm, const ExecutorContext& context, bool fp64 = false);
  ~PythonPeer();
  PythonPeer(const PythonPeer&) = delete;
  PythonPeer& operator=(const PythonPeer&) = delete;

  struct Answer {
    std::vector<HostTensor> outputs;
    std::string text;  ///< JSON of what happened beside; mostly empty.
  };
  Answer run(std::span<const HostTensor> inputs) const;
  /// JSON with "counters", "fallbacks" and "facts".
  std::string report() const;
  /// Writes the "export" (.pt2) or the AOTInductor "package" of the model; JSON with "stages".
  std::string write(const std::string& kind, const std::filesystem::path& path) const;

  const std::vector<Stage>& stages() const { return stages_; }

 private:
  [[noreturn]] void fail(const std::string& message) const;

  std::string file_;  ///< Of the scenario, for messages.
  const BreakevenPython* python_ = nullptr;
  void* peer_ = nullptr;
  std::vector<Stage> stages_;
};

/// "stages" of a JSON answer.
std::vector<Stage> stages_in(const std::string& json);

}  // namespace breakeven
