#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/sym.h"
#include "compiler/support/result.h"

namespace breakeven {

/// Reads an integer expression as torch.export writes it, either in SymPy's constructor form
/// ("FloorDiv(Add(Symbol('s0', integer=True), Integer(7)), Integer(8))") or in its infix form
/// ("(s0 + 7)//8", "Max(1, 2*s0)"). `lookup` gives the symbol of a name. Refuses unknown functions
/// and symbols, and expressions nested deeper than 200.
using SymbolLookup = std::function<std::optional<Sym>(const std::string& name)>;
Result<Sym> parse_sympy(SymContext& syms, std::string_view text, const SymbolLookup& lookup);

/// The name when `text` is a single symbol in either form, "s0" or "Symbol('s0', ...)".
std::optional<std::string> lone_symbol(std::string_view text);

}  // namespace breakeven
