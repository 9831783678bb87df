#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

/// Text of a policy of scenarios/policies/, built into the program.
std::optional<std::string> built_in_policy(std::string_view name);
std::vector<std::string> built_in_policy_names();

}  // namespace breakeven
