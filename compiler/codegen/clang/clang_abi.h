#pragma once

#include <cstddef>

/// The plain C boundary of the in-process compiler: the only thing that its module and the driver
/// share, so that LLVM's headers never meet another library's.
extern "C" {

/// What one compile gets and gives. Strings are zero-terminated unless a size stands beside them.
struct BreakevenClangJob {
  const char* source;
  std::size_t source_size;
  const char* const* cc1_arguments;  ///< Arguments of clang -cc1 beyond triple, input and output.
  std::size_t cc1_argument_count;
  /// Called once with the shared object's bytes when the compile succeeds.
  void (*take_object)(void* context, const char* bytes, std::size_t size);
  /// Called once with the compiler's messages when it does not.
  void (*take_message)(void* context, const char* text, std::size_t size);
  void* context;
};

/// Compiles C++ text to a shared object. Safe from several threads. 0 on success.
using BreakevenClangCompile = int (*)(const BreakevenClangJob* job);
/// "19.1.7": LLVM's version as linked.
using BreakevenClangVersion = const char* (*)();
}

#define BREAKEVEN_CLANG_COMPILE_SYMBOL "breakeven_clang_compile"
#define BREAKEVEN_CLANG_VERSION_SYMBOL "breakeven_clang_version"
