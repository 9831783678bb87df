#include "compiler/runtime/kernel_cache.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "compiler/runtime/kernel_file.h"
#include "compiler/support/error.h"
#include "compiler/support/files.h"

namespace breakeven {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".kernel";

bool is_kernel_file(const fs::directory_entry& file) {
  std::error_code ignored;
  return file.path().extension() == kSuffix && file.is_regular_file(ignored);
}

}  // namespace

/// One compile or load under way, which everybody else who wants the kernel waits for.
struct KernelCache::Flight {
  bool landed = false;
  std::optional<Refusal> refusal;
  std::shared_ptr<LoadedKernel> kernel;
};

KernelCache::KernelCache(Options options, Driver& driver, CpuTarget target)
    : options_(std::move(options)), driver_(driver), target_(std::move(target)) {
  if (options_.directory.empty()) return;
  try {
    make_directories(options_.directory);
  } catch (const UserError& error) {
    disk_trouble_ = error.what();
  }
}

KernelCache::~KernelCache() = default;

Hash128 KernelCache::key(std::string_view source, const std::string& entry) const {
  // Lengths keep the parts apart: no two different sets of parts make the same text.
  std::string text;
  const auto add = [&](std::string_view part) {
    text += std::to_string(part.size()) + ':';
    text += part;
  };
  add(source);
  add(entry);
  add(driver_.identity());
  add(driver_.flags());
  add(target_.to_string());
  return hash_bytes(text);
}

Result<CachedKernel> KernelCache::get(std::string_view source, const std::string& entry) {
  const Hash128 hash = key(source, entry);
  const std::string name = hash.to_hex();
  std::shared_ptr<Flight> flight;
  {
    std::unique_lock lock(mutex_);
    if (const auto found = loaded_.find(name); found != loaded_.end()) {
      ++counters_.from_memory;
      return CachedKernel{found->second, CacheOutcome::kMemory, {}};
    }
    if (const auto found = in_flight_.find(name); found != in_flight_.end()) {
      flight = found->second;
      landed_.wait(lock, [&] { return flight->landed; });
      if (flight->refusal.has_value()) return *flight->refusal;
      ++counters_.from_memory;
      return CachedKernel{flight->kernel, CacheOutcome::kMemory, {}};
    }
    flight = std::make_shared<Flight>();
    in_flight_.emplace(name, flight);
  }
  Result<CachedKernel> result = find_or_compile(source, entry, hash);
  const std::lock_guard lock(mutex_);
  flight->landed = true;
  if (result.ok()) {
    flight->kernel = result.value().kernel;
    // Programs own their kernels; dropping the cache's hold only costs a later reload.
    if (loaded_.size() >= options_.memory_limit) loaded_.clear();
    loaded_.emplace(name, flight->kernel);
    ++(result.value().outcome == CacheOutcome::kDisk ? counters_.from_disk : counters_.compiled);
  } else {
    flight->refusal = result.refusal();
  }
  in_flight_.erase(name);
  landed_.notify_all();
  return result;
}

Result<CachedKernel> KernelCache::find_or_compile(std::string_view source, const std::string& entry,
                                                  const Hash128& hash) {
  std::string miss = "not in memory; ";
  if (options_.directory.empty()) {
    miss += "no disk cache";
  } else {
    const fs::path file = file_of(hash);
    std::error_code absent;
    if (!fs::exists(file, absent)) {
      miss += "no file " + file.filename().string() + " on disk";
    } else {
      try {
        const Result<std::string> object = decode_kernel_file(read_file(file), hash, entry);
        Result<std::shared_ptr<LoadedKernel>> kernel =
            object.ok() ? LoadedKernel::load(object.value(), entry) : object.refusal();
        if (kernel.ok()) {
          // The time stamp is the eviction order; failing to set it only evicts sooner.
          fs::last_write_time(file, fs::file_time_type::clock::now(), absent);
          return CachedKernel{std::move(kernel).value(), CacheOutcome::kDisk, {}};
        }
        set_aside(file);
        miss += "the file on disk was set aside: " + kernel.refusal().reason;
      } catch (const UserError& error) {
        // It vanished between the look and the read, or may not be read.
        miss += error.what();
      }
    }
  }
  Result<std::string> object = driver_.compile(source);
  if (!object.ok()) return object.refusal();
  Result<std::shared_ptr<LoadedKernel>> kernel = LoadedKernel::load(object.value(), entry);
  if (!kernel.ok()) return kernel.refusal();
  if (!options_.directory.empty()) store(hash, entry, object.value());
  return CachedKernel{std::move(kernel).value(), CacheOutcome::kCompiled, std::move(miss)};
}

fs::path KernelCache::file_of(const Hash128& hash) const {
  return options_.directory / (hash.to_hex() + kSuffix);
}

void KernelCache::store(const Hash128& hash, const std::string& entry, std::string_view object) {
  try {
    // The directory may have been removed since; a cache that is wiped in use fills again.
    make_directories(options_.directory);
    write_file_atomic(file_of(hash), encode_kernel_file(hash, entry, object));
  } catch (const UserError& error) {
    const std::lock_guard lock(mutex_);
    ++counters_.unwritten;
    disk_trouble_ = error.what();
    return;
  }
  evict_files();
}

void KernelCache::set_aside(const fs::path& file) {
  std::error_code ignored;
  fs::rename(file, file.string() + ".bad", ignored);
  const std::lock_guard lock(mutex_);
  ++counters_.bad_files;
}

void KernelCache::evict_files() {
  struct File {
    fs::file_time_type used;
    std::int64_t bytes = 0;
    fs::path path;
  };
  std::vector<File> files;
  std::int64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(options_.directory, error), end; !error && it != end;
       it.increment(error)) {
    if (!is_kernel_file(*it)) continue;
    std::error_code vanished;
    const auto bytes = static_cast<std::int64_t>(it->file_size(vanished));
    const fs::file_time_type used = it->last_write_time(vanished);
    if (vanished) continue;
    files.push_back({used, bytes, it->path()});
    total += bytes;
  }
  if (total <= options_.limit_bytes) return;
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (total <= options_.limit_bytes) break;
    std::error_code ignored;
    if (!fs::remove(file.path, ignored)) continue;
    total -= file.bytes;
    const std::lock_guard lock(mutex_);
    ++counters_.evicted_files;
  }
}

CacheCounters KernelCache::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

std::string KernelCache::disk_trouble() const {
  const std::lock_guard lock(mutex_);
  return disk_trouble_;
}

}  // namespace breakeven
