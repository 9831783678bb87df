#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/schedule.h"
#include "compiler/support/clock.h"
#include "compiler/support/result.h"

namespace breakeven {

/// Instruction-set features that generated code may use, and that a kernel's cache key must hold.
struct CpuTarget {
  std::string cpu;                    ///< "x86-64-v3": the level that both drivers know.
  std::vector<std::string> features;  ///< Beyond the level, sorted: "avx512bf16".
  std::string to_string() const;      ///< "x86-64-v3+avx512bf16".
};

/// The features of the processor that runs this program.
CpuTarget detect_cpu();

/// The vector registers that code for `target` may count on.
VectorUnit vector_unit(const CpuTarget& target);

/// A compiler of kernel text. Safe from several threads.
class Driver {
 public:
  virtual ~Driver() = default;
  /// What made the code, for the cache key and the log: "clang 19.1.7 (in process)".
  virtual const std::string& identity() const = 0;
  /// Flags that decide the code, for the cache key: one line.
  virtual const std::string& flags() const = 0;
  /// Compiles C++ text to the bytes of a shared object. Refuses with the compiler's first messages;
  /// codes: compiler_missing, compiler_failed, compiler_timed_out, compiler_crashed.
  virtual Result<std::string> compile(std::string_view source) = 0;
};

struct DriverOptions {
  std::string name = "auto";    ///< "clang", "system", or "auto": clang where its module loads.
  std::string system_compiler;  ///< Program of the system driver; empty: $CXX, c++, g++, clang++.
  Nanos timeout = 60'000'000'000;  ///< For one kernel by the system compiler.
  CpuTarget target;
};

/// Opens nothing yet beyond a look at the file system: the module is loaded, or the compiler asked
/// for its version, when a kernel must be compiled or a key made. Refuses when there is no such
/// driver (compiler_missing), saying what to install.
Result<std::unique_ptr<Driver>> make_driver(const DriverOptions& options);

/// The in-process module beside the executable (or in $BREAKEVEN_PLUGIN_DIR); empty when absent.
std::string clang_module_path();

}  // namespace breakeven
