#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/error.h"

namespace breakeven {

/// Place of a byte in a file; both 1-based, the column in bytes.
struct TextPlace {
  int line = 1;
  int column = 1;
};

struct JsonMember;

/// A JSON value that knows where it stands in its file.
struct JsonNode {
  enum class Kind : std::uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  TextPlace place;
  bool boolean = false;
  double number = 0;
  std::string text;  ///< Decoded string, or the number as written.
  std::vector<JsonNode> items;
  std::vector<JsonMember> members;

  /// Member by name, or null.
  const JsonNode* find(std::string_view name) const;
  /// The value as a person would quote it in an error, nested values abbreviated.
  std::string quoted() const;
};

struct JsonMember {
  std::string name;
  TextPlace place;  ///< Of the name.
  JsonNode value;
};

inline constexpr int kMaxJsonDepth = 64;

/// Parses strict JSON (RFC 8259, UTF-8 without a byte order mark). Faults that leave the structure
/// readable (duplicate keys, numbers out of range) are appended to `diagnostics` and parsing goes
/// on; any other throws a UserError that holds `diagnostics` and the fault. `file` is the name
/// shown.
JsonNode parse_json_tree(std::string_view bytes, const std::string& file,
                         std::vector<Diagnostic>& diagnostics);

/// "object", "number", ... with its article, for errors.
std::string_view described(JsonNode::Kind kind);

}  // namespace breakeven
