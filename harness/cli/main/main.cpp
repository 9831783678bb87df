#include <iostream>
#include <string>
#include <vector>

#include "compiler/support/clock.h"
#include "harness/cli/cli.h"

int main(int argc, char** argv) {
  const breakeven::Nanos entered_at = breakeven::now_ns();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return breakeven::run_cli(argc > 0 ? argv[0] : "breakeven", arguments, entered_at, std::cout,
                            std::cerr);
}
