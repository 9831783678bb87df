#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/support/files.h"

namespace breakeven {

/// A directory with one small valid scenario, "scenario.json", that tests change.
class ScenarioFiles {
 public:
  ScenarioFiles() : directory_("scenario-test") {
    write("lengths.csv", "length,count\n8,3\n16,1\n");
    write("trace.csv", "at,length\n0.0,8\n0.5,16\n1.5,8\n");
  }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = directory_.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::filesystem::path path(const std::string& name) const { return directory_.path() / name; }

  /// The valid scenario; each line is short, so that places are easy to tell.
  static std::string text() {
    return R"({
  "breakeven": 1,
  "name": "test",
  "model": {"name": "fake", "script": {"service_ms": 1}},
  "dims": {"length": {"max": 64}},
  "inputs": [{"name": "ids", "dtype": "i64", "sizes": [1, "length"]}],
  "shapes": {"length": {"kind": "fixed", "size": 8}},
  "traffic": {"kind": "poisson", "rate_per_s": 10},
  "arms": ["null", "scripted"],
  "life": {"restarts_per_day": 2, "origin": "given"},
  "price": {"usd_per_hour": 0.1, "device": "2 vCPU", "origin": "assumed"}
}
)";
  }
  /// text() with the first `from` replaced by `to`.
  static std::string with(const std::string& from, const std::string& to) {
    std::string changed = text();
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  }

 private:
  TempDir directory_;
};

}  // namespace breakeven
