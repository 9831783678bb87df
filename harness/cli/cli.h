#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "compiler/support/clock.h"

namespace breakeven {

/// The whole program: parses `arguments` (without the program's name), runs the command, returns
/// the exit code. Results go to `out`, messages and progress to `err`; nothing is thrown.
int run_cli(const std::string& program, const std::vector<std::string>& arguments, Nanos entered_at,
            std::ostream& out, std::ostream& err);

}  // namespace breakeven
