#include "harness/executors/torch/aot_executor.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/text.h"
#include "compiler/torch/aten_tensor.h"
#include "compiler/torch/torch_backend.h"
#include "harness/executors/peer_plugin.h"
#include "harness/executors/shape_label.h"

namespace breakeven {
namespace {

/// Runners share the weights; each serves one request at a time.
constexpr std::size_t kRunners = 4;

/// Packages name libtorch.so, which this program, linked to its parts, has not loaded.
void load_libtorch() {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<void*>(&at::set_num_threads), &library) == 0) return;
  const auto file = std::filesystem::path(library.dli_fname).parent_path() / "libtorch.so";
  if (::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw UserError({.file = file.string(),
                     .message = "LibTorch does not load whole: " + printable(::dlerror(), 500),
                     .fix = "Install torch again: scripts/setup"},
                    ExitCode::kEnvironment);
  }
}

class AotExecutor final : public Executor {
 public:
  explicit AotExecutor(const ExecutorContext& context) : context_(context) {}

  PrepareOutcome prepare() override {
    PrepareOutcome outcome;
    set_torch_threads(context_.threads);
    const std::filesystem::path package = context_.cache_dir / "aot-inductor.pt2";
    CompileEvent event;
    event.origin = "torch._inductor.aoti_compile_and_package";
    if (std::filesystem::exists(package)) {
      event.from_disk = event.kernels = 1;
    } else {
      make_package(package, outcome, event);
    }
    const Nanos start = now_ns();
    load_libtorch();
    guarded([&] {
      loader_.emplace(package.string(), "model", /*run_single_threaded=*/false, kRunners);
    });
    const Stage load{event.compiled > 0 ? "load" : "cache_load", now_ns() - start};
    if (event.compiled > 0) {
      outcome.stages.push_back(load);
    } else {
      event.started_at = start;
      event.duration = load.duration;
      event.stages = {load};
    }
    compiled_ = event.compiled;
    from_disk_ = event.from_disk;
    outcome.compiles.push_back(std::move(event));
    return outcome;
  }

  /// Safe from several threads.
  RunOutcome run(std::span<const HostTensor> inputs) override {
    const c10::InferenceMode inference;
    std::vector<at::Tensor> tensors;
    tensors.reserve(inputs.size());
    for (const HostTensor& input : inputs) tensors.push_back(borrow_tensor(input));
    RunOutcome outcome;
    guarded([&] { tensors = loader_->boxed_run(std::move(tensors)); }, &inputs);
    for (const at::Tensor& tensor : tensors) {
      auto host = to_host_tensor(tensor);
      if (!host.ok()) fail(host.refusal().reason, &inputs);
      outcome.outputs.push_back(std::move(host).value());
    }
    const std::lock_guard lock(mutex_);
    ++requests_;
    return outcome;
  }

  Counters counters() const override {
    const std::lock_guard lock(mutex_);
    return {{"requests", requests_},
            {"recompiles", 0},
            {"graph_breaks", 0},
            {"fallback_requests", 0},
            {"kernels_compiled", compiled_},
            {"kernels_from_disk", from_disk_}};
  }

 private:
  /// Python's part: what a user does once, before serving.
  void make_package(const std::filesystem::path& package, PrepareOutcome& outcome,
                    CompileEvent& event) {
    const PythonPeer peer({.engine = "aot-inductor", .mode = {}}, context_);
    outcome.stages = peer.stages();
    const std::filesystem::path partial = context_.cache_dir / "partial.pt2";
    event.started_at = now_ns();
    const std::string answer = peer.write("package", partial);
    event.duration = now_ns() - event.started_at;
    event.stages = stages_in(answer);
    event.kernels = std::max(1, nlohmann::json::parse(answer).at("kernels").get<int>());
    event.compiled = event.kernels;
    std::filesystem::rename(partial, package);
  }

  template <typename Work>
  void guarded(Work work, const std::span<const HostTensor>* inputs = nullptr) const {
    try {
      work();
    } catch (const std::exception& error) {
      fail(split(error.what(), '\n').front(), inputs);
    }
  }

  [[noreturn]] void fail(const std::string& reason,
                         const std::span<const HostTensor>* inputs) const {
    throw UserError({.file = context_.scenario->path.string(),
                     .message = "AOTInductor's package fails: " + printable(reason, 1000),
                     .value = inputs == nullptr ? "" : shape_label(*context_.scenario, *inputs),
                     .fix = {}});
  }

  ExecutorContext context_;
  std::optional<torch::inductor::AOTIModelPackageLoader> loader_;
  mutable std::mutex mutex_;
  std::int64_t requests_ = 0, compiled_ = 0, from_disk_ = 0;
};

}  // namespace

std::unique_ptr<Executor> make_aot_executor(const std::string&, const ExecutorContext& context) {
  return std::make_unique<AotExecutor>(context);
}

}  // namespace breakeven
