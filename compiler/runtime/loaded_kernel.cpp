#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "compiler/runtime/kernel_cache.h"

namespace breakeven {
namespace {

Refusal unloadable(const std::string& why) { return {"kernel_unloadable", why}; }

/// A path to the open file that is the same for equal objects alone. The loader takes a path that
/// it has seen for the library it loaded then, and descriptor numbers come again; so the object's
/// hash is spelt into the path, a bit as "/." or "//".
std::string path_of(int fd, const Hash128& hash) {
  std::string path = "/proc/self/fd";
  for (std::uint64_t word : {hash.high, hash.low}) {
    for (int bit = 0; bit < 64; ++bit, word >>= 1) path += (word & 1) != 0 ? "/." : "//";
  }
  return path + '/' + std::to_string(fd);
}

}  // namespace

Result<std::shared_ptr<LoadedKernel>> LoadedKernel::load(std::string_view object,
                                                         const std::string& entry) {
  const Hash128 hash = hash_bytes(object);
  // The loader wants a file; one in memory needs no writable directory and leaves nothing behind.
  const int fd = ::memfd_create("breakeven-kernel", MFD_CLOEXEC);
  if (fd < 0) return unloadable(std::string("memfd_create: ") + std::strerror(errno));
  while (!object.empty()) {
    const ssize_t written = ::write(fd, object.data(), object.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      ::close(fd);
      return unloadable(std::string("memfd: ") + std::strerror(error));
    }
    object.remove_prefix(static_cast<std::size_t>(written));
  }
  void* handle = ::dlopen(path_of(fd, hash).c_str(), RTLD_NOW | RTLD_LOCAL);
  ::close(fd);
  if (handle == nullptr) return unloadable(::dlerror());
  void* symbol = ::dlsym(handle, entry.c_str());
  if (symbol == nullptr) {
    ::dlclose(handle);
    return unloadable("the object has no entry " + entry);
  }
  return std::shared_ptr<LoadedKernel>(
      new LoadedKernel(handle, reinterpret_cast<KernelEntry>(symbol)));
}

LoadedKernel::~LoadedKernel() { ::dlclose(handle_); }

}  // namespace breakeven
