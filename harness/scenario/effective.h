#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/scenario/json_tree.h"
#include "harness/scenario/keys.h"

namespace breakeven {

/// What a scenario file says once defaults are filled in.
struct Effective {
  JsonNode root;                       ///< Every key of the table present; comments left out.
  std::set<std::string> bad_sections;  ///< Top-level keys with a fault below them.
};

/// Holds `given` against the table: types, ranges, required and unknown keys. Appends every fault
/// to `diagnostics`; a faulty value is replaced by its default, or left out.
Effective apply_keys(const JsonNode& given, const ObjectKeys& keys, const std::string& file,
                     std::vector<Diagnostic>& diagnostics);

/// Canonical text: keys sorted, numbers in shortest form, no spaces.
std::string canonical_text(const JsonNode& node);

}  // namespace breakeven
