#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

struct ObjectKeys;

enum class KeyType : std::uint8_t {
  kString,
  kInteger,
  kNumber,
  kBoolean,
  kSize,  ///< A dim's name or an integer >= 1.
  kObject,
  kMap,      ///< Identifier -> object.
  kTextMap,  ///< Any name -> string.
  kStringList,
  kSizeList,
  kObjectList,
};

/// One key of a scenario file. Loader, JSON Schema and template are all made from these rows.
struct Key {
  std::string name;
  KeyType type = KeyType::kString;
  bool required = false;
  std::string doc;      ///< One line; also the comment of `breakeven new`.
  std::string initial;  ///< Default as JSON text; empty: none.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;           ///< `min` itself is not allowed.
  std::vector<std::string> one_of;  ///< Of strings, or of the items of a list of strings.
  std::size_t max_items = 1000;     ///< Of lists and maps.
  std::size_t min_items = 0;
  bool unique_items = false;
  const ObjectKeys* object = nullptr;  ///< Of kObject, kMap and kObjectList.
};

/// One value of a discriminating key and the keys that come with it.
struct Variant {
  std::string value;
  std::string doc;
  std::vector<Key> keys;
};

/// The keys of one kind of object.
struct ObjectKeys {
  std::string doc;
  std::vector<Key> keys;
  std::string discriminator;  ///< Name of the key that picks the variant; empty: none.
  std::vector<Variant> variants;
};

/// Longest string that any key takes, in code points.
inline constexpr std::size_t kMaxStringLength = 2000;
/// Names of dims: what may be a symbol in generated code.
inline constexpr std::string_view kIdentifierPattern = "^[a-zA-Z_][a-zA-Z0-9_]{0,63}$";
bool is_identifier(std::string_view text);

/// The whole scenario file.
const ObjectKeys& scenario_keys();

}  // namespace breakeven
