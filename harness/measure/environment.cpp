#include "harness/measure/environment.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <vector>

#include "compiler/support/files.h"
#include "compiler/support/hash.h"

namespace breakeven {
namespace {

std::string first_line(const std::filesystem::path& path, const std::string& otherwise) {
  std::ifstream in(path);
  std::string line;
  return std::getline(in, line) && !line.empty() ? line : otherwise;
}

std::string cpu_model() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

std::string load_average() {
  const std::string line = first_line("/proc/loadavg", "unknown");
  std::size_t end = 0;
  for (int i = 0; i < 3 && end != std::string::npos; ++i) end = line.find(' ', end + 1);
  return line.substr(0, end);
}

std::map<std::string, std::string> machine_environment() {
  utsname system{};
  ::uname(&system);
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  return {{"cpu", cpu_model()},
          {"cores", std::to_string(usable_cores())},
          {"governor",
           first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "not exposed")},
          {"kernel", std::string(system.sysname) + ' ' + system.release},
          {"memory_bytes", std::to_string(static_cast<long long>(pages) * ::sysconf(_SC_PAGESIZE))},
          {"load_average", load_average()}};
}

std::string binary_hash() {
  const std::filesystem::path program = executable_path();
  std::vector<std::filesystem::path> files = {program};
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(program.parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    const bool plugin = entry.path().extension() == ".so" && name.find("breakeven") != name.npos;
    if (plugin) files.push_back(entry.path());
  }
  std::sort(files.begin() + 1, files.end());
  std::string all;
  for (const auto& file : files) all += hash_bytes(read_file(file)).to_hex();
  return hash_bytes(all).to_hex();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace breakeven
