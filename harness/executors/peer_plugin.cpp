#include "harness/executors/peer_plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/text.h"
#include "harness/executors/python/python_abi.h"

namespace breakeven {
namespace {

constexpr const char* kModuleName = "breakeven_python.so";

/// The plugin's table, opened once a process. Its symbols are global, since Python's own extension
/// modules expect to find the interpreter there; it is never closed.
Result<const BreakevenPython*> open_plugin() {
  static const auto opened = []() -> Result<const BreakevenPython*> {
    const std::string file = python_module_path();
    if (file.empty()) {
      return Refusal{"python_missing",
                     std::string(kModuleName) +
                         " is not beside the program: install Python's development package "
                         "(python3-dev) and build again"};
    }
    void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) return Refusal{"python_missing", ::dlerror()};
    const auto entry =
        reinterpret_cast<BreakevenPythonEntry>(::dlsym(handle, BREAKEVEN_PYTHON_ENTRY_SYMBOL));
    const BreakevenPython* table = entry == nullptr ? nullptr : entry();
    if (table == nullptr || table->abi != kBreakevenPythonAbi) {
      return Refusal{"python_missing", file + " belongs to another version of this program"};
    }
    return table;
  }();
  return opened;
}

/// What the plugin gives back during one call.
struct Answers {
  std::vector<HostTensor> outputs;
  std::string text;

  BreakevenPythonSink sink() { return {this, take_tensor, take_text}; }

  static void take_tensor(void* context, const BreakevenPythonTensor* tensor, void* owner,
                          void (*release)(void*)) {
    HostTensor host;
    host.storage = std::shared_ptr<void>(owner, release);
    host.dtype = parse_dtype(tensor->dtype).value_or(DType::kF32);
    host.sizes.assign(tensor->sizes, tensor->sizes + tensor->rank);
    host.strides.assign(tensor->strides, tensor->strides + tensor->rank);
    host.data = tensor->data;
    static_cast<Answers*>(context)->outputs.push_back(std::move(host));
  }
  static void take_text(void* context, const char* text, std::size_t size) {
    static_cast<Answers*>(context)->text.assign(text, size);
  }
};

/// What Python is told: the keys that peer/*.py read.
std::string spec_of(const PeerArm& arm, const ExecutorContext& context, bool fp64) {
  const Scenario& scenario = *context.scenario;
  nlohmann::json spec = {
      {"engine", arm.engine},
      {"mode", arm.mode},
      {"dynamic", arm.dynamic},
      {"mark_dynamic", arm.mark_dynamic},
      {"freezing", arm.freezing},
      {"fp64", fp64},
      {"verify", context.verify},
      {"file", scenario.model.file},
      {"factory", scenario.model.factory},
      {"folder", std::filesystem::absolute(scenario.path).parent_path().string()},
      {"seed", scenario.measure.seed},
      {"threads", context.threads > 0 ? context.threads : 1},
      {"cache_dir", context.cache_dir.string()},
      {"dims", nlohmann::json::array()},
      {"inputs", nlohmann::json::array()}};
  for (const DimSpec& dim : scenario.dims) {
    spec["dims"].push_back({{"name", dim.name}, {"min", dim.min}, {"max", dim.max}});
  }
  for (const InputSpec& input : scenario.inputs) {
    spec["inputs"].push_back({{"name", input.name},
                              {"dtype", name_of(input.dtype)},
                              {"sizes", input.sizes},
                              {"fill_min", input.fill_min},
                              {"fill_max", input.fill_max}});
  }
  return spec.dump();
}

/// Inductor reads these when it is imported, and hands them to its compile workers.
void set_environment(const ExecutorContext& context) {
  if (!context.cache_dir.empty()) {
    ::setenv("TORCHINDUCTOR_CACHE_DIR", context.cache_dir.c_str(), 1);
    ::setenv("TRITON_CACHE_DIR", (context.cache_dir / "triton").c_str(), 1);
  }
  ::setenv("TORCHINDUCTOR_COMPILE_THREADS", std::to_string(context.threads).c_str(), 1);
}

}  // namespace

std::string python_module_path() {
  const char* directory = std::getenv("BREAKEVEN_PLUGIN_DIR");
  const std::filesystem::path parent = directory != nullptr && *directory != '\0'
                                           ? std::filesystem::path(directory)
                                           : executable_path().parent_path();
  const std::filesystem::path module = parent / kModuleName;
  return ::access(module.c_str(), R_OK) == 0 ? module.string() : std::string();
}

Result<std::string> probe_python() {
  const auto plugin = open_plugin();
  if (!plugin.ok()) return plugin.refusal();
  return std::string(plugin.value()->version);
}

std::vector<Stage> stages_in(const std::string& json) {
  std::vector<Stage> stages;
  const nlohmann::json parsed = nlohmann::json::parse(json);
  for (const auto& stage : parsed.at("stages")) {
    stages.push_back({stage.at(0).get<std::string>(), stage.at(1).get<Nanos>()});
  }
  return stages;
}

PythonPeer::PythonPeer(const PeerArm& arm, const ExecutorContext& context, bool fp64)
    : file_(context.scenario->path.string()) {
  const Nanos start = now_ns();
  const auto plugin = open_plugin();
  if (!plugin.ok()) {
    throw UserError({.file = file_,
                     .message = "PyTorch's own arms need Python: " + plugin.refusal().reason,
                     .value = '"' + arm.engine + '"',
                     .fix = "See `breakeven doctor`, or drop the arm"},
                    ExitCode::kEnvironment);
  }
  python_ = plugin.value();
  set_environment(context);
  Answers answers;
  const BreakevenPythonSink sink = answers.sink();
  if (python_->create(spec_of(arm, context, fp64).c_str(), &sink, &peer_) != 0) fail(answers.text);
  const Nanos all = now_ns() - start;
  const std::vector<Stage> inside = stages_in(answers.text);
  Nanos covered = 0;
  for (const Stage& stage : inside) covered += stage.duration;
  stages_ = {{"python", all - covered}};  // The interpreter, and `import torch`.
  stages_.insert(stages_.end(), inside.begin(), inside.end());
}

PythonPeer::~PythonPeer() {
  if (peer_ != nullptr) python_->destroy(peer_);
}

void PythonPeer::fail(const std::string& message) const {
  throw UserError({.file = file_, .message = printable(message, 1500), .fix = {}});
}

PythonPeer::Answer PythonPeer::run(std::span<const HostTensor> inputs) const {
  std::vector<BreakevenPythonTensor> views;
  views.reserve(inputs.size());
  for (const HostTensor& input : inputs) {
    views.push_back({name_of(input.dtype).data(), input.sizes.data(), input.strides.data(),
                     input.sizes.size(), input.data});
  }
  Answers answers;
  const BreakevenPythonSink sink = answers.sink();
  if (python_->run(peer_, views.data(), views.size(), &sink) != 0) fail(answers.text);
  return {std::move(answers.outputs), std::move(answers.text)};
}

std::string PythonPeer::report() const {
  Answers answers;
  const BreakevenPythonSink sink = answers.sink();
  if (python_->report(peer_, &sink) != 0) fail(answers.text);
  return std::move(answers.text);
}

std::string PythonPeer::write(const std::string& kind, const std::filesystem::path& path) const {
  Answers answers;
  const BreakevenPythonSink sink = answers.sink();
  if (python_->write(peer_, kind.c_str(), path.c_str(), &sink) != 0) fail(answers.text);
  return std::move(answers.text);
}

}  // namespace breakeven
