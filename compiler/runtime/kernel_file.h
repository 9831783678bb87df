#pragma once

#include <string>
#include <string_view>

#include "compiler/support/hash.h"
#include "compiler/support/result.h"

namespace breakeven {

/// Bytes of a cache file: header (magic, version, key, entry, size, checksum) and the object.
std::string encode_kernel_file(const Hash128& key, const std::string& entry,
                               std::string_view object);

/// The object in a cache file's bytes. Refuses (bad_cache_file) what is truncated, altered, of
/// another version, or of another kernel, saying which.
Result<std::string> decode_kernel_file(std::string_view bytes, const Hash128& key,
                                       const std::string& entry);

}  // namespace breakeven
