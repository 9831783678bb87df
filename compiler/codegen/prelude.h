#pragma once

#include <string>
#include <string_view>

namespace breakeven {

/// The definitions that `body` uses, in a fixed order: type names and be_* functions. Aborts on a
/// be_* function that the prelude lacks.
std::string prelude_for(std::string_view body);

}  // namespace breakeven
