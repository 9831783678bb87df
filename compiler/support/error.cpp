#include "compiler/support/error.h"

#include <utility>

#include "compiler/support/text.h"

namespace breakeven {
namespace {

std::string lines_of(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += '\n';
    text += to_string(diagnostic);
  }
  return text;
}

}  // namespace

std::string to_string(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) {
    text += printable(diagnostic.file, 400);
    if (diagnostic.line > 0) {
      text += ':' + std::to_string(diagnostic.line);
      if (diagnostic.column > 0) text += ':' + std::to_string(diagnostic.column);
    }
    text += ": ";
  }
  text += printable(diagnostic.message, 1000);
  if (!diagnostic.value.empty()) text += " (got " + printable(diagnostic.value, 120) + ")";
  if (!diagnostic.fix.empty()) text += ". " + printable(diagnostic.fix, 1000);
  return text;
}

UserError::UserError(Diagnostic diagnostic, ExitCode code)
    : UserError(std::vector<Diagnostic>{std::move(diagnostic)}, code) {}

UserError::UserError(std::vector<Diagnostic> diagnostics, ExitCode code)
    : std::runtime_error(lines_of(diagnostics)),
      diagnostics_(std::move(diagnostics)),
      code_(code) {}

}  // namespace breakeven
