#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compiler/codegen/driver.h"
#include "compiler/support/hash.h"
#include "compiler/support/result.h"

namespace breakeven {

/// Entry of a generated kernel; the layout of its arguments is codegen's contract.
using KernelEntry = void (*)(const void* const* in, void* const* out, const std::int64_t* sym,
                             std::int64_t begin, std::int64_t end, void* scratch);

/// A loaded kernel; its code stays mapped as long as one owner holds it.
class LoadedKernel {
 public:
  /// Loads a shared object from bytes. Refuses (kernel_unloadable) with the loader's words.
  static Result<std::shared_ptr<LoadedKernel>> load(std::string_view object,
                                                    const std::string& entry);
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  KernelEntry entry() const { return entry_; }

 private:
  LoadedKernel(void* handle, KernelEntry entry) : handle_(handle), entry_(entry) {}
  void* handle_;
  KernelEntry entry_;
};

enum class CacheOutcome : std::uint8_t { kMemory, kDisk, kCompiled };

struct CachedKernel {
  std::shared_ptr<LoadedKernel> kernel;
  CacheOutcome outcome = CacheOutcome::kCompiled;
  std::string miss;  ///< Of kCompiled: why the cache had none ("not in memory; no file on disk").
};

/// Exact counts since construction.
struct CacheCounters {
  std::int64_t compiled = 0;
  std::int64_t from_memory = 0;
  std::int64_t from_disk = 0;
  std::int64_t bad_files = 0;  ///< Set aside: corrupt, truncated, foreign.
  std::int64_t unwritten = 0;  ///< Compiled, but the directory would not take the file.
  std::int64_t evicted_files = 0;
};

/// Kernels by full text: memory first, then a directory that any number of processes may share.
/// A file is `KEY.kernel`: magic, version, key, entry, object size, checksum, object; it is written
/// to a temporary name and renamed, so a reader finds a whole file or none. Safe from several
/// threads; a kernel that many ask for at once is compiled once.
class KernelCache {
 public:
  struct Options {
    std::filesystem::path directory;  ///< Empty: memory alone.
    std::int64_t limit_bytes = std::int64_t{1}
                               << 30;  ///< Of the directory; least recently used go.
    std::size_t memory_limit = 4096;   ///< Kernels held by the cache itself.
  };

  /// `driver` outlives the cache.
  KernelCache(Options options, Driver& driver, CpuTarget target);
  ~KernelCache();

  /// The kernel of `source`, found or compiled. Refusals are the driver's and the loader's.
  Result<CachedKernel> get(std::string_view source, const std::string& entry);

  /// Key of a kernel here: hash of text, entry, driver identity, flags and target.
  Hash128 key(std::string_view source, const std::string& entry) const;
  CacheCounters counters() const;
  /// Why the directory is not written to; empty when it is.
  std::string disk_trouble() const;

 private:
  struct Flight;
  Result<CachedKernel> find_or_compile(std::string_view source, const std::string& entry,
                                       const Hash128& key);
  std::filesystem::path file_of(const Hash128& key) const;
  void store(const Hash128& key, const std::string& entry, std::string_view object);
  void evict_files();
  void set_aside(const std::filesystem::path& file);

  Options options_;
  Driver& driver_;
  CpuTarget target_;
  mutable std::mutex mutex_;
  std::condition_variable landed_;
  std::unordered_map<std::string, std::shared_ptr<LoadedKernel>> loaded_;  // by key and entry
  std::unordered_map<std::string, std::shared_ptr<Flight>> in_flight_;
  CacheCounters counters_;
  std::string disk_trouble_;
};

}  // namespace breakeven
