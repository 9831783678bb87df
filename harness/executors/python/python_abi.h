#pragma once

#include <cstddef>
#include <cstdint>

/// The plain C boundary of the Python plugin: what it and its host share, so that the host runs
/// without Python.
extern "C" {

/// A strided view of host memory.
struct BreakevenPythonTensor {
  const char* dtype;  ///< As name_of(DType): "f32".
  const std::int64_t* sizes;
  const std::int64_t* strides;  ///< In elements.
  std::size_t rank;
  void* data;
};

/// Where a call's results go.
struct BreakevenPythonSink {
  void* context;
  /// One output; `release(owner)` when the host needs its memory no more.
  void (*take_tensor)(void* context, const BreakevenPythonTensor* tensor, void* owner,
                      void (*release)(void*));
  /// JSON of what happened, or, when the call returns non-zero, the message of the failure.
  void (*take_text)(void* context, const char* text, std::size_t size);
};

struct BreakevenPython {
  int abi;  ///< kBreakevenPythonAbi.
  /// "3.11.2": Python as compiled against.
  const char* version;
  /// Starts Python unless it runs, and makes a peer from JSON. 0 on success, as everywhere here.
  int (*create)(const char* spec, const BreakevenPythonSink* sink, void** peer);
  /// Runs one request. Text comes only when there is something to say.
  int (*run)(void* peer, const BreakevenPythonTensor* inputs, std::size_t count,
             const BreakevenPythonSink* sink);
  /// Counters, fallbacks and facts, as JSON.
  int (*report)(void* peer, const BreakevenPythonSink* sink);
  /// Files for others: "export" or "package" or "torchscript", to a path.
  int (*write)(void* peer, const char* kind, const char* path, const BreakevenPythonSink* sink);
  void (*destroy)(void* peer);
};

using BreakevenPythonEntry = const BreakevenPython* (*)();
}

inline constexpr int kBreakevenPythonAbi = 1;

#define BREAKEVEN_PYTHON_ENTRY_SYMBOL "breakeven_python"
