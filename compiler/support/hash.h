#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace breakeven {

/// 128-bit content hash (XXH3). Not cryptographic: it names things, it does not authenticate them.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
  std::string to_hex() const;  ///< 32 lower-case hex digits.
};

Hash128 hash_bytes(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace breakeven
