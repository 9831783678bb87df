#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

struct PreludeFunction {
  std::string name;
  std::string text;  ///< Its whole definition.
};

/// Type names that every kernel starts with.
extern const std::string_view kPreludeTypes;

/// All functions, each after the ones that it calls.
const std::vector<PreludeFunction>& prelude_functions();

}  // namespace breakeven
