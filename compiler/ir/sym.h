#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/support/result.h"

namespace breakeven {

/// A symbolic integer: a handle into the SymContext that interned it. Equal handles of one context
/// are equal expressions; unequal handles may still be equal at run time.
struct Sym {
  std::int32_t id = -1;
  friend bool operator==(Sym, Sym) = default;
};

enum class SymKind : std::uint8_t { kConst, kSymbol, kAdd, kMul, kFloorDiv, kMod, kMin, kMax };

/// Closed integer interval; hi == kUnbounded when nothing is known.
struct SymRange {
  static constexpr std::int64_t kUnbounded = INT64_MAX;
  std::int64_t lo = 0;
  std::int64_t hi = kUnbounded;
  friend bool operator==(const SymRange&, const SymRange&) = default;
};

/// One named free symbol, such as the batch or the length of a request.
struct Symbol {
  std::string name;  ///< "s0", or the scenario's name for the dim: [a-zA-Z_][a-zA-Z0-9_]*.
  SymRange range;
  std::int64_t hint = 0;  ///< The size seen at export; for heuristics alone, never for meaning.
};

/// Interns symbolic integer expressions in a canonical form (constants folded, sums and products
/// flattened and ordered), so that equal expressions built in different ways share one handle.
/// Append-only: handles stay valid for the life of the context.
class SymContext {
 public:
  SymContext();

  Sym constant(std::int64_t value);
  /// Declares a symbol; the name must be new.
  Sym symbol(std::string name, SymRange range, std::int64_t hint);
  std::optional<Sym> find_symbol(std::string_view name) const;

  Sym add(Sym a, Sym b);
  Sym sub(Sym a, Sym b);
  Sym mul(Sym a, Sym b);
  Sym floor_div(Sym a, Sym b);  ///< Rounds toward minus infinity, as Python's //.
  Sym mod(Sym a, Sym b);        ///< Sign of the divisor, as Python's %.
  Sym min(Sym a, Sym b);
  Sym max(Sym a, Sym b);

  std::optional<std::int64_t> as_constant(Sym a) const;
  bool is_constant(Sym a, std::int64_t value) const;
  /// Bounds that hold for every assignment inside the symbols' ranges.
  SymRange range(Sym a) const;
  /// Value under an assignment: symbol_values[i] belongs to symbols()[i].
  std::int64_t evaluate(Sym a, std::span<const std::int64_t> symbol_values) const;
  /// Hint value of the expression.
  std::int64_t hint(Sym a) const;

  const std::vector<Symbol>& symbols() const { return symbols_; }
  std::optional<int> symbol_index(Sym a) const;  ///< Index into symbols() when `a` is a symbol.
  SymKind kind(Sym a) const;
  std::pair<Sym, Sym> operands(Sym a) const;  ///< Of a binary kind.
  /// Indices of the symbols that occur in `a`, ascending.
  std::vector<int> symbols_in(Sym a) const;

  /// "s0*7 + 1", "(s0 + 7)//8", "min(s0, 512)"; valid C when `//` is replaced by the C printer.
  std::string to_string(Sym a) const;
  /// Reads what to_string wrote; symbols must have been declared.
  Result<Sym> parse(std::string_view text);

  /// Re-creates `a`, an expression of `from`, here; symbol i of `from` becomes replacement[i].
  Sym import(const SymContext& from, Sym a, std::span<const Sym> replacement);

 private:
  struct Node {
    SymKind kind;
    std::int64_t value = 0;  ///< Of kConst; the symbol's index of kSymbol.
    Sym a, b;
  };
  struct Key;
  Sym intern(SymKind kind, std::int64_t value, Sym a, Sym b);

  std::vector<Node> nodes_;
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, std::int32_t> interned_;
};

}  // namespace breakeven
