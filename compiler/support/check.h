#pragma once

#include <sstream>
#include <string>

namespace breakeven {

/// Prints "file:line: check failed: expr: message" to stderr and aborts. Reserved for bugs of this
/// program; anything the user or the machine can cause is a UserError or a Refusal.
[[noreturn]] void check_failed(const char* file, int line, const char* expr,
                               const std::string& message);

}  // namespace breakeven

/// Aborts with the expression and a streamed message when an invariant of this program is broken.
#define BE_CHECK(expr, ...)                                                     \
  do {                                                                          \
    if (!(expr)) [[unlikely]] {                                                 \
      std::ostringstream be_check_out;                                          \
      __VA_OPT__(be_check_out << __VA_ARGS__;)                                  \
      ::breakeven::check_failed(__FILE__, __LINE__, #expr, be_check_out.str()); \
    }                                                                           \
  } while (false)
