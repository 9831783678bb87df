#include "compiler/support/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "compiler/support/error.h"

namespace breakeven {
namespace {

/// Closes a file descriptor at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string why(int error) { return std::strerror(error); }

[[noreturn]] void throw_unreadable(const std::filesystem::path& path, const std::string& reason) {
  throw UserError({.file = path.string(),
                   .message = "cannot read the file: " + reason,
                   .fix = "Check the path and its permissions"});
}

[[noreturn]] void throw_unwritable(const std::filesystem::path& path, int error) {
  const char* fix = error == ENOSPC || error == EDQUOT
                        ? "Free some space or choose another directory"
                        : "Choose a directory that you may write to";
  throw UserError({.file = path.string(), .message = "cannot write: " + why(error), .fix = fix},
                  ExitCode::kEnvironment);
}

/// Writes all bytes; returns 0 or the errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  // Without O_NONBLOCK opening a pipe that nobody writes to would wait for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) throw_unreadable(path, why(errno));
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) throw_unreadable(path, why(errno));
  if (S_ISDIR(info.st_mode)) throw_unreadable(path, "it is a directory");
  if (!S_ISREG(info.st_mode)) throw_unreadable(path, "it is a pipe or a device, not a file");
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(info.st_size) + 1);
  // Read until the end, not to st_size: a file may grow.
  std::vector<char> block(1 << 16);
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_unreadable(path, why(errno));
    if (got == 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(got));
    if (bytes.size() > max_bytes) {
      throw UserError({.file = path.string(),
                       .message = "the file is larger than " + std::to_string(max_bytes) + " bytes",
                       .fix = "Give a file of the expected kind"});
    }
  }
}

void write_file_atomic(const std::filesystem::path& path, std::string_view bytes) {
  std::string temporary = path.string() + ".tmp-XXXXXX";
  Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) throw_unwritable(path, errno);
  int error = write_all(file.get(), bytes);
  if (error == 0 && ::fchmod(file.get(), 0644) != 0) error = errno;
  if (error == 0 && ::fsync(file.get()) != 0) error = errno;
  if (::close(file.release()) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    throw_unwritable(path, error);
  }
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw_unwritable(path, error.value());
}

TempDir::TempDir(std::string_view prefix, const std::filesystem::path& parent) {
  std::error_code ignored;
  const std::filesystem::path base =
      parent.empty() ? std::filesystem::temp_directory_path(ignored) : parent;
  std::string pattern = (base / (std::string(prefix) + "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) throw_unwritable(base, errno);
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path executable_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

}  // namespace breakeven
