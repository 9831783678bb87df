#include <algorithm>
#include <array>

#include "compiler/support/hash.h"
#include "harness/measure/trial.h"

namespace breakeven {

std::string safe_slug(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  constexpr std::size_t kHashDigits = 8;
  // Names that Windows keeps for devices, whatever their extension.
  constexpr std::array<std::string_view, 6> kReserved = {"con", "prn", "aux", "nul", "com", "lpt"};
  std::string slug;
  for (const char c : text) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    const bool upper = c >= 'A' && c <= 'Z';
    slug.push_back(kept ? c : upper ? static_cast<char>(c - 'A' + 'a') : '-');
  }
  const bool reserved = std::any_of(kReserved.begin(), kReserved.end(), [&](std::string_view name) {
    return slug.starts_with(name) && slug.size() <= name.size() + 1;
  });
  const bool is_safe = slug == text && !slug.empty() && slug.size() <= kLongest && !reserved;
  if (is_safe) return slug;
  slug.resize(std::min(slug.size(), kLongest - kHashDigits - 1));
  if (slug.empty()) slug = "empty";
  return slug + '-' + hash_bytes(text).to_hex().substr(0, kHashDigits);
}

}  // namespace breakeven
