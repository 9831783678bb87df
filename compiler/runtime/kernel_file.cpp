#include "compiler/runtime/kernel_file.h"

#include <cstdint>
#include <cstring>

namespace breakeven {
namespace {

constexpr std::string_view kMagic = "BEKERNEL";
constexpr std::uint32_t kVersion = 1;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t entry_size;
  std::uint64_t object_size;
  Hash128 key;
  Hash128 checksum;  ///< Of entry and object.
};
static_assert(sizeof(Header) == 56);

Refusal bad(const std::string& why) { return {"bad_cache_file", why}; }

}  // namespace

std::string encode_kernel_file(const Hash128& key, const std::string& entry,
                               std::string_view object) {
  const std::string payload = entry + std::string(object);
  Header header{};
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  header.version = kVersion;
  header.entry_size = static_cast<std::uint32_t>(entry.size());
  header.object_size = object.size();
  header.key = key;
  header.checksum = hash_bytes(payload);
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes + payload;
}

Result<std::string> decode_kernel_file(std::string_view bytes, const Hash128& key,
                                       const std::string& entry) {
  Header header{};
  if (bytes.size() < sizeof header) return bad("truncated: no whole header");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != kMagic)
    return bad("not a kernel file");
  if (header.version != kVersion) {
    return bad("format version " + std::to_string(header.version) + ", this program reads " +
               std::to_string(kVersion));
  }
  const std::string_view payload = bytes.substr(sizeof header);
  if (header.object_size > payload.size() ||
      payload.size() - header.object_size != header.entry_size) {
    return bad("truncated: the sizes in the header do not add up to the file's");
  }
  if (header.key != key) return bad("holds the kernel of another key");
  if (hash_bytes(payload) != header.checksum) return bad("checksum does not match");
  if (payload.substr(0, header.entry_size) != entry) return bad("holds another entry");
  return std::string(payload.substr(header.entry_size));
}

}  // namespace breakeven
