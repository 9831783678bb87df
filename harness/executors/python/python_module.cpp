#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <dlfcn.h>
#include <pybind11/embed.h>
#include <torch/csrc/autograd/python_variable.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "harness/executors/python/peer_source.h"
#include "harness/executors/python/python_abi.h"

namespace py = pybind11;

namespace {

struct DTypeRow {
  std::string_view name;
  c10::ScalarType type;
};
constexpr std::array<DTypeRow, 10> kDTypes = {{{"bool", c10::ScalarType::Bool},
                                               {"u8", c10::ScalarType::Byte},
                                               {"i8", c10::ScalarType::Char},
                                               {"i16", c10::ScalarType::Short},
                                               {"i32", c10::ScalarType::Int},
                                               {"i64", c10::ScalarType::Long},
                                               {"f16", c10::ScalarType::Half},
                                               {"bf16", c10::ScalarType::BFloat16},
                                               {"f32", c10::ScalarType::Float},
                                               {"f64", c10::ScalarType::Double}}};

/// The folder of the Python environment that the LibTorch of this process belongs to:
/// .../lib/python3.11/site-packages.
std::filesystem::path site_packages() {
  Dl_info library{};
  if (::dladdr(reinterpret_cast<void*>(&at::get_num_threads), &library) == 0) return {};
  return std::filesystem::path(library.dli_fname).parent_path().parent_path().parent_path();
}

/// The interpreter of that environment, whose name makes Python find it.
std::filesystem::path interpreter() {
  const std::filesystem::path root = site_packages().parent_path().parent_path().parent_path();
  for (const char* name : {"python", "python3"}) {
    if (std::filesystem::exists(root / "bin" / name)) return root / "bin" / name;
  }
  return {};
}

void check_status(const PyStatus& status, const char* what) {
  if (PyStatus_Exception(status) == 0) return;
  throw std::runtime_error(std::string(what) + ": " +
                           (status.err_msg == nullptr ? "unknown fault" : status.err_msg));
}

struct Config {
  Config() { PyConfig_InitPythonConfig(&value); }
  ~Config() { PyConfig_Clear(&value); }
  PyConfig value;
};

/// Makes the Python source that is built into this module importable.
void add_modules() {
  for (const breakeven::PeerModule& module : breakeven::peer_modules()) {
    const py::object code = py::reinterpret_steal<py::object>(
        Py_CompileString(module.source, module.file, Py_file_input));
    if (!code) throw py::error_already_set();
    const py::object made =
        py::reinterpret_steal<py::object>(PyImport_ExecCodeModule(module.name, code.ptr()));
    if (!made) throw py::error_already_set();
  }
}

/// Starts the interpreter once. It is never ended: LibTorch does not outlive its end.
void start_python() {
  static std::mutex mutex;
  static bool started = false;
  const std::lock_guard lock(mutex);
  if (started) return;
  if (Py_IsInitialized() == 0) {
    Config config;
    // Signals stay the program's own; Inductor's workers run the interpreter named here.
    config.value.install_signal_handlers = 0;
    const std::filesystem::path program = interpreter();
    if (!program.empty()) {
      check_status(
          PyConfig_SetBytesString(&config.value, &config.value.program_name, program.c_str()),
          "Python's name");
    }
    check_status(Py_InitializeFromConfig(&config.value), "Python does not start");
    py::list path = py::module_::import("sys").attr("path");
    const std::string packages = site_packages().string();
    if (!path.contains(packages)) path.append(packages);
    PyEval_SaveThread();
  }
  const py::gil_scoped_acquire gil;
  add_modules();
  started = true;
}

void say(const BreakevenPythonSink* sink, const std::string& text) {
  sink->take_text(sink->context, text.data(), text.size());
}

/// Runs `work` with the interpreter's lock; a failure of any kind becomes its message.
template <typename Work>
int guarded(const BreakevenPythonSink* sink, Work work) {
  try {
    const py::gil_scoped_acquire gil;
    try {
      work();
      return 0;
    } catch (py::error_already_set& error) {
      if (error.trace()) PyException_SetTraceback(error.value().ptr(), error.trace().ptr());
      const py::object describe = py::module_::import("breakeven_peer").attr("describe");
      say(sink, py::cast<std::string>(describe(error.value())));
    }
  } catch (const std::exception& error) {
    say(sink, error.what());
  }
  return 1;
}

at::Tensor borrowed(const BreakevenPythonTensor& tensor) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name != tensor.dtype) continue;
    return at::for_blob(tensor.data, at::IntArrayRef(tensor.sizes, tensor.rank))
        .strides(at::IntArrayRef(tensor.strides, tensor.rank))
        .options(at::TensorOptions().dtype(row.type))
        .make_tensor();
  }
  throw std::runtime_error(std::string("unknown dtype ") + tensor.dtype);
}

void give(const BreakevenPythonSink* sink, const at::Tensor& tensor) {
  const at::Tensor host = tensor.device().is_cpu() ? tensor : tensor.cpu();
  if (host.layout() != c10::kStrided) {
    throw std::runtime_error("the model returned a sparse tensor");
  }
  for (const DTypeRow& row : kDTypes) {
    if (row.type != host.scalar_type()) continue;
    const BreakevenPythonTensor view{row.name.data(), host.sizes().data(), host.strides().data(),
                                     static_cast<std::size_t>(host.dim()), host.data_ptr()};
    sink->take_tensor(sink->context, &view, new at::Tensor(host),
                      [](void* owner) { delete static_cast<at::Tensor*>(owner); });
    return;
  }
  throw std::runtime_error(std::string("the model returned dtype ") +
                           c10::toString(host.scalar_type()));
}

struct Peer {
  py::object object;  ///< breakeven_peer.Peer.
  py::object run;     ///< Its bound method.
};

int create(const char* spec, const BreakevenPythonSink* sink, void** peer) {
  *peer = nullptr;
  try {
    start_python();
  } catch (const std::exception& error) {
    say(sink, error.what());
    return 1;
  }
  return guarded(sink, [&] {
    const c10::InferenceMode inference(false);
    const py::object object = py::module_::import("breakeven_peer").attr("make")(spec);
    say(sink, py::cast<std::string>(object.attr("prepared")()));
    *peer = new Peer{object, object.attr("run")};
  });
}

int run(void* peer, const BreakevenPythonTensor* inputs, std::size_t count,
        const BreakevenPythonSink* sink) {
  std::vector<at::Tensor> outputs;
  const c10::InferenceMode inference;
  const int failed = guarded(sink, [&] {
    py::tuple arguments(count);
    for (std::size_t i = 0; i < count; ++i) {
      arguments[i] = py::reinterpret_steal<py::object>(THPVariable_Wrap(borrowed(inputs[i])));
    }
    const py::object called = py::reinterpret_steal<py::object>(
        PyObject_CallObject(static_cast<Peer*>(peer)->run.ptr(), arguments.ptr()));
    if (!called) throw py::error_already_set();
    const py::tuple answer = called.cast<py::tuple>();
    for (const py::handle output : answer[0].cast<py::tuple>()) {
      outputs.push_back(THPVariable_Unpack(output.ptr()));
    }
    if (!answer[1].is_none()) say(sink, answer[1].cast<std::string>());
  });
  if (failed != 0) return failed;
  try {
    for (const at::Tensor& output : outputs) give(sink, output);
  } catch (const std::exception& error) {
    say(sink, error.what());
    return 1;
  }
  return 0;
}

int report(void* peer, const BreakevenPythonSink* sink) {
  return guarded(sink, [&] {
    say(sink, py::cast<std::string>(static_cast<Peer*>(peer)->object.attr("report")()));
  });
}

int write(void* peer, const char* kind, const char* path, const BreakevenPythonSink* sink) {
  return guarded(sink, [&] {
    const c10::InferenceMode inference(false);
    const py::object answer = static_cast<Peer*>(peer)->object.attr("write")(kind, path);
    say(sink, py::cast<std::string>(answer));
  });
}

void destroy(void* peer) {
  const py::gil_scoped_acquire gil;
  delete static_cast<Peer*>(peer);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const BreakevenPython* breakeven_python() {
  static const BreakevenPython table = {
      kBreakevenPythonAbi, PY_VERSION, create, run, report, write, destroy};
  return &table;
}
