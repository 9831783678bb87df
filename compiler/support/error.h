#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace breakeven {

/// Process exit codes; the table in README.md is generated from the same meaning.
enum class ExitCode : int {
  kOk = 0,
  kJudgedBad = 1,      ///< A gate, canary or selfbench failed.
  kBadInput = 2,       ///< Usage or bad input.
  kNotEnoughData = 3,  ///< Gate or canary could not judge.
  kBlocked = 4,        ///< Correctness failure.
  kEnvironment = 5,    ///< Full disk, missing library, unwritable directory.
  kInterrupted = 130,
};

/// One thing wrong with an input, with its place and its fix.
struct Diagnostic {
  std::string file;  ///< As the user named it; empty when there is no file.
  int line = 0;      ///< 1-based, 0 when unknown.
  int column = 0;    ///< 1-based byte column, 0 when unknown.
  std::string message;
  std::string value;  ///< The offending value as text, empty when there is none.
  std::string fix;    ///< One sentence that says what to do.
};

/// "file:line:column: message (got VALUE). FIX" with control characters escaped and long values
/// cut.
std::string to_string(const Diagnostic& diagnostic);

/// The user's or the machine's fault. Carries every diagnostic found, not the first alone.
class UserError : public std::runtime_error {
 public:
  explicit UserError(Diagnostic diagnostic, ExitCode code = ExitCode::kBadInput);
  explicit UserError(std::vector<Diagnostic> diagnostics, ExitCode code = ExitCode::kBadInput);

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  ExitCode code() const { return code_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  ExitCode code_;
};

}  // namespace breakeven
