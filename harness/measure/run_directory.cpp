#include "harness/measure/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "harness/measure/trial.h"

namespace breakeven {

RunDirectory::RunDirectory(const std::filesystem::path& path) : path_(path) {
  make_directories(path_);
  const std::string lock_file = (path_ / ".breakeven.lock").string();
  lock_ = ::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) {
    throw UserError(
        {.file = path_.string(),
         .message = std::string("cannot write into the directory: ") + std::strerror(errno),
         .fix = "Choose a directory that you may write to"},
        ExitCode::kEnvironment);
  }
  struct stat info{};
  const bool taken = ::flock(lock_, LOCK_EX | LOCK_NB) != 0;
  // A run that has just ended removes the file; a lock on what was removed holds nobody off.
  if (taken || ::fstat(lock_, &info) != 0 || info.st_nlink == 0) {
    ::close(lock_);
    throw UserError({.file = path_.string(),
                     .message = "another run is writing into this directory",
                     .fix = "Wait for it, or choose another directory"},
                    ExitCode::kEnvironment);
  }
}

RunDirectory::~RunDirectory() {
  // Removed while still locked: a run that opened the file before finds no other lock to take.
  std::error_code ignored;
  std::filesystem::remove(path_ / ".breakeven.lock", ignored);
  ::close(lock_);
}

std::filesystem::path RunDirectory::cold_cache(const std::string& arm, int process) const {
  return work() / ("cache-r" + std::to_string(process) + '-' + safe_slug(arm));
}

void RunDirectory::remove_earlier_run() const {
  if (!std::filesystem::exists(results())) return;
  // Also a damaged results file of ours may be replaced; anything else is somebody's own.
  const std::string head = read_file(results()).substr(0, 200);
  if (!head.empty() && head.find("\"breakeven-results\"") == std::string::npos) {
    throw UserError({.file = results().string(),
                     .message = "--fresh would delete a file that breakeven did not write",
                     .fix = "Choose another directory"});
  }
  std::error_code ignored;
  for (const char* name :
       {"results.json", "report.html", "report.json", "report.md", "log.jsonl"}) {
    std::filesystem::remove(path_ / name, ignored);
  }
  for (const auto& entry : std::filesystem::directory_iterator(raw(), ignored)) {
    if (entry.path().extension() == ".bin") std::filesystem::remove(entry.path(), ignored);
  }
  std::filesystem::remove(raw(), ignored);  // Stays while it holds other files.
  std::filesystem::remove_all(work(), ignored);
}

void RunDirectory::log(const std::string& json_line) const {
  std::ofstream out(path_ / "log.jsonl", std::ios::app);
  out << json_line << '\n';
}

}  // namespace breakeven
