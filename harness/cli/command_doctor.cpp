#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "compiler/codegen/driver.h"
#include "compiler/support/subprocess.h"
#include "compiler/support/text.h"
#include "harness/cli/commands.h"
#include "harness/executors/executor.h"
#include "harness/executors/peer_plugin.h"
#include "harness/measure/environment.h"

namespace breakeven {
namespace {

namespace fs = std::filesystem;

/// One thing that this machine or build may have.
struct Finding {
  std::string what;
  bool present = false;
  std::string detail;  ///< Version or place; what is lost, when absent.
};

/// First line that a program prints about its version; empty when it does not run.
std::string version_line(const std::string& program) {
  SubprocessOptions options;
  options.argv = {program, "--version"};
  options.timeout = 5'000'000'000;
  const SubprocessResult result = run_subprocess(options);
  if (result.ending != SubprocessResult::Ending::kExited || result.exit_code != 0) return {};
  const std::string& text =
      result.standard_output.empty() ? result.standard_error : result.standard_output;
  return printable(split(text, '\n').front(), 200);
}

Finding find_program(const std::string& what, const std::vector<std::string>& programs,
                     const std::string& lost) {
  for (const std::string& program : programs) {
    if (program.empty()) continue;
    const std::string version = version_line(program);
    if (!version.empty()) return {what, true, program + ": " + version};
  }
  return {what, false, lost};
}

/// Folders that may hold CUDA: the usual places, and what pip installed beside the LibTorch in use.
std::vector<fs::path> cuda_roots() {
  std::vector<fs::path> roots;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) roots.emplace_back(value);
  }
  roots.emplace_back("/usr/local/cuda");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with("/torch/lib/libtorch_cpu.so")) continue;
    const fs::path library = line.substr(line.find('/'));
    const fs::path packages = library.parent_path().parent_path().parent_path() / "nvidia";
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(packages, ignored))
      roots.push_back(entry.path());
    break;
  }
  return roots;
}

/// A file of the CUDA folders whose name starts with `stem`, below one of `folders`.
Finding find_cuda(const std::string& what, const std::vector<fs::path>& roots,
                  const std::vector<std::string>& folders, const std::string& stem) {
  std::error_code ignored;
  for (const fs::path& root : roots) {
    for (const std::string& folder : folders) {
      for (const auto& entry : fs::directory_iterator(root / folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(stem)) return {what, true, entry.path().string()};
      }
    }
  }
  return {what, false, "not found; the CUDA parts are left out"};
}

std::vector<Finding> examine() {
  std::vector<Finding> findings;
  const std::map<std::string, std::string> facts = model_environment();
  const auto torch = facts.find("torch");
  const bool has_torch = torch != facts.end() && torch->second != "none";
  findings.push_back({"LibTorch", has_torch,
                      has_torch ? torch->second : "not built in; the arm eager is missing"});
  const std::string module = clang_module_path();
  findings.push_back({"in-process clang", !module.empty(),
                      module.empty() ? "module not found; the system compiler is used" : module});
  const auto python = probe_python();
  findings.push_back({"Python for peers", python.ok(),
                      python.ok() ? python.value() + ", " + python_module_path()
                                  : "torch-*, torchscript and aot-inductor are missing: " +
                                        python.refusal().reason});
  const char* cxx = std::getenv("CXX");
  findings.push_back(find_program("system compiler",
                                  {cxx == nullptr ? "" : cxx, "c++", "g++", "clang++"},
                                  "not found; needed when in-process clang is missing"));
  findings.push_back(find_program("Python", {"python3"}, "not found; needed to export models"));
  const std::vector<fs::path> roots = cuda_roots();
  findings.push_back(find_cuda("CUDA headers", roots, {"include"}, "cuda_runtime.h"));
  findings.push_back(find_cuda("NVRTC", roots, {"lib", "lib64"}, "libnvrtc.so"));
  findings.push_back(
      find_cuda("CUPTI", roots, {"lib", "lib64", "extras/CUPTI/lib64"}, "libcupti.so"));
  findings.push_back({"CUDA driver", fs::exists("/dev/nvidiactl"),
                      fs::exists("/dev/nvidiactl") ? "/dev/nvidiactl" : "no NVIDIA device here"});
  return findings;
}

}  // namespace

ExitCode doctor_command(Terminal& terminal) {
  const std::vector<Finding> findings = examine();
  ArmTable arms = base_arms();
  for (ArmKind& arm : model_arms()) arms.push_back(std::move(arm));
  const std::map<std::string, std::string> machine = machine_environment();
  if (terminal.json) {
    nlohmann::ordered_json json = {{"version", program_version()}, {"machine", machine}};
    for (const Finding& finding : findings) {
      json["parts"].push_back({{"what", finding.what},
                               {"present", finding.present},
                               {"detail", printable(finding.detail, 1000)}});
    }
    for (const ArmKind& arm : arms) {
      json["arms"].push_back({{"arm", arm.prefix}, {"description", arm.description}});
    }
    terminal.out << json.dump(2) << '\n';
    return ExitCode::kOk;
  }
  terminal.out << "breakeven " << program_version() << "\n\nmachine\n";
  for (const auto& [key, value] : machine) {
    terminal.out << "  " << key << std::string(20 - std::min<std::size_t>(19, key.size()), ' ')
                 << value << '\n';
  }
  terminal.out << "\nparts\n";
  for (const Finding& finding : findings) {
    terminal.out << "  " << (finding.present ? "yes  " : "no   ") << finding.what
                 << std::string(20 - std::min<std::size_t>(19, finding.what.size()), ' ')
                 << printable(finding.detail, 1000) << '\n';
  }
  terminal.out << "\narms\n";
  for (const ArmKind& arm : arms) {
    terminal.out << "  " << arm.prefix
                 << std::string(25 - std::min<std::size_t>(24, arm.prefix.size()), ' ')
                 << arm.description << '\n';
  }
  return ExitCode::kOk;
}

std::string program_version() { return BREAKEVEN_VERSION; }

}  // namespace breakeven
