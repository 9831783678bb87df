#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace breakeven {

/// Whole file as bytes. Throws UserError (kBadInput) naming the path when it cannot be read or is
/// larger than `max_bytes`.
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t max_bytes = std::uint64_t{4} << 30);

/// Writes to a temporary name in the same directory, syncs, then renames: readers see the old file
/// or the whole new one. Throws UserError (kEnvironment) on a full disk or an unwritable directory,
/// leaving no temporary behind.
void write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

/// mkdir -p; throws UserError (kEnvironment) with the reason.
void make_directories(const std::filesystem::path& path);

/// A directory under $TMPDIR (or `parent`) that is removed with its contents at destruction.
class TempDir {
 public:
  explicit TempDir(std::string_view prefix = "breakeven", const std::filesystem::path& parent = {});
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Path of the running executable.
std::filesystem::path executable_path();

}  // namespace breakeven
