#include "compiler/codegen/system_driver.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/subprocess.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

constexpr Nanos kVersionTimeout = 10'000'000'000;

std::vector<std::string> flags_for(const CpuTarget& target) {
  std::vector<std::string> flags = {"-x",
                                    "c++",
                                    "-std=c++17",
                                    "-O3",
                                    "-march=" + target.cpu,
                                    "-fopenmp-simd",
                                    "-ffp-contract=off",
                                    "-fwrapv",
                                    "-fno-math-errno",
                                    "-fno-trapping-math",
                                    "-fPIC",
                                    "-shared",
                                    "-w"};
  for (const std::string& feature : target.features) flags.push_back("-m" + feature);
  return flags;
}

/// The first program of the list that PATH has, or the name itself when it is a path to a program.
std::string find_program(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      if (::access(name.c_str(), X_OK) == 0) return name;
      continue;
    }
    for (const std::string& directory : split(path != nullptr ? path : "", ':')) {
      const std::string candidate = (directory.empty() ? "." : directory) + '/' + name;
      if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
  }
  return {};
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

class SystemDriver final : public Driver {
 public:
  SystemDriver(std::string program, std::string version, const DriverOptions& options)
      : program_(std::move(program)),
        identity_(std::move(version) + " (system)"),
        arguments_(flags_for(options.target)),
        flags_(join(arguments_, " ")),
        timeout_(options.timeout) {}

  const std::string& identity() const override { return identity_; }
  const std::string& flags() const override { return flags_; }

  Result<std::string> compile(std::string_view source) override {
    try {
      return compile_in_temporary_directory(source);
    } catch (const UserError& error) {  // The temporary directory is full or not writable.
      return refuse("compiler_failed", error.what());
    }
  }

 private:
  Result<std::string> compile_in_temporary_directory(std::string_view source) {
    const TempDir directory("breakeven-kernel");
    const std::filesystem::path input = directory.path() / "kernel.cpp";
    const std::filesystem::path output = directory.path() / "kernel.so";
    write_file_atomic(input, source);
    SubprocessOptions run;
    run.argv = {program_};
    run.argv.insert(run.argv.end(), arguments_.begin(), arguments_.end());
    run.argv.insert(run.argv.end(), {"-o", output.string(), input.string()});
    run.timeout = timeout_;
    const SubprocessResult done = run_subprocess(run);
    switch (done.ending) {
      case SubprocessResult::Ending::kTimedOut:
        return refuse("compiler_timed_out", "gave no kernel within " +
                                                format_duration_ns(static_cast<double>(timeout_)) +
                                                " and was killed");
      case SubprocessResult::Ending::kNotStarted:
        return refuse("compiler_missing", done.describe());
      case SubprocessResult::Ending::kSignalled:
      case SubprocessResult::Ending::kInterrupted:
        return refuse("compiler_crashed", done.describe());
      case SubprocessResult::Ending::kExited:
        break;
    }
    if (done.exit_code != 0) {
      return refuse("compiler_failed",
                    done.describe() + ": " + printable(done.standard_error, 2000));
    }
    if (!std::filesystem::exists(output)) {
      return refuse("compiler_failed", "exited with 0 but wrote no kernel");
    }
    return read_file(output);
  }

  Refusal refuse(const char* code, const std::string& what) const {
    return {code, program_ + ": " + what};
  }

  std::string program_;
  std::string identity_;
  std::vector<std::string> arguments_;
  std::string flags_;
  Nanos timeout_;
};

}  // namespace

Result<std::unique_ptr<Driver>> make_system_driver(const DriverOptions& options) {
  std::vector<std::string> names;
  const char* from_environment = std::getenv("CXX");
  if (!options.system_compiler.empty()) {
    names = {options.system_compiler};
  } else {
    if (from_environment != nullptr && *from_environment != '\0') names = {from_environment};
    names.insert(names.end(), {"c++", "g++", "clang++"});
  }
  std::string program = find_program(names);
  if (program.empty()) {
    return Refusal{"compiler_missing", "no C++ compiler on PATH (looked for " + join(names, ", ") +
                                           "): install g++, or set CXX"};
  }
  const SubprocessResult version =
      run_subprocess({.argv = {program, "--version"}, .timeout = kVersionTimeout});
  if (version.ending != SubprocessResult::Ending::kExited || version.exit_code != 0) {
    return Refusal{"compiler_missing",
                   program + " --version " + version.describe() + ": it is no working compiler"};
  }
  return std::unique_ptr<Driver>(std::make_unique<SystemDriver>(
      std::move(program), printable(first_line(version.standard_output)), options));
}

}  // namespace breakeven
