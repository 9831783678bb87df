#pragma once

#include <string>

namespace breakeven::testing {

/// Checks `document` against the part of JSON Schema that the project's schemas use: type, enum,
/// required, properties, additionalProperties, items, minimum, maximum, $ref into $defs. Returns ""
/// or the first violation with its JSON pointer; an unknown keyword is a violation, not ignored.
std::string schema_violation(const std::string& schema, const std::string& document);

}  // namespace breakeven::testing
