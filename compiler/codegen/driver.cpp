#include "compiler/codegen/driver.h"

#include "compiler/codegen/clang_driver.h"
#include "compiler/codegen/system_driver.h"

namespace breakeven {

Result<std::unique_ptr<Driver>> make_driver(const DriverOptions& options) {
  if (options.name == "clang") return make_clang_driver(options);
  if (options.name == "system") return make_system_driver(options);
  if (options.name != "auto") {
    return Refusal{"compiler_missing",
                   "no driver is called \"" + options.name + "\": use auto, clang or system"};
  }
  Result<std::unique_ptr<Driver>> clang = make_clang_driver(options);
  if (clang.ok()) return clang;
  Result<std::unique_ptr<Driver>> system = make_system_driver(options);
  if (system.ok()) return system;
  return Refusal{"compiler_missing", clang.refusal().reason + "; " + system.refusal().reason};
}

}  // namespace breakeven
