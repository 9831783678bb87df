#pragma once

#include <memory>

#include "compiler/codegen/driver.h"

namespace breakeven {

/// The system's compiler as a child process, killed at the time-out.
Result<std::unique_ptr<Driver>> make_system_driver(const DriverOptions& options);

}  // namespace breakeven
