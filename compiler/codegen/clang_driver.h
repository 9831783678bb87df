#pragma once

#include <memory>

#include "compiler/codegen/driver.h"

namespace breakeven {

/// Clang in this process, through the module `breakeven_clang.so`. The module (and LLVM with it) is
/// opened at the first compile; its version comes from the build, so that a key needs no LLVM.
Result<std::unique_ptr<Driver>> make_clang_driver(const DriverOptions& options);

}  // namespace breakeven
