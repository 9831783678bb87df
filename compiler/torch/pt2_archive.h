#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

/// The records of a torch.export archive (a zip), read through LibTorch's PyTorchStreamReader over
/// a private mapping of the file, so that weights are used where the file lies and pages are shared
/// between processes. Hostile bytes give a UserError, never a read outside the mapping.
class Pt2Archive {
 public:
  /// Throws UserError (kBadInput) when the file is missing, empty, truncated or no zip archive.
  explicit Pt2Archive(const std::filesystem::path& path);
  ~Pt2Archive();
  Pt2Archive(const Pt2Archive&) = delete;
  Pt2Archive& operator=(const Pt2Archive&) = delete;

  const std::filesystem::path& path() const { return path_; }
  bool has_record(const std::string& name) const;
  /// Record names that start with `prefix`, in archive order.
  std::vector<std::string> records_under(std::string_view prefix) const;
  /// A whole record as text. Throws UserError when it is missing or larger than `max_bytes`.
  std::string text(const std::string& name, std::size_t max_bytes) const;

  /// Bytes of a record with their owner; `data` points into the mapping unless the record is
  /// compressed or lies at an address that is not a multiple of 16.
  struct Bytes {
    std::shared_ptr<void> owner;
    void* data = nullptr;
    std::size_t size = 0;
    bool copied = false;
  };
  Bytes bytes(const std::string& name) const;

  /// Throws the UserError of this file.
  [[noreturn]] void fail(const std::string& message, const std::string& value,
                         const std::string& fix) const;

 private:
  struct State;
  std::size_t checked_size(const std::string& name) const;

  std::filesystem::path path_;
  std::unique_ptr<State> state_;
};

}  // namespace breakeven
