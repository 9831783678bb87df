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
  /// Declares a symbol; the name must be new and valid.
  Sym symbol(std::string name, SymRange range, std::int64_t hint);
  std::optional<Sym> find_symbol(std::string_view name) const;
  /// [a-zA-Z_][a-zA-Z0-9_]*, and no word of the text form (min, max, mod, inf, f32, ...).
  static bool is_valid_symbol_name(std::string_view name);

  Sym add(Sym a, Sym b);
  Sym sub(Sym a, Sym b);
  Sym mul(Sym a, Sym b);
  /// Rounds toward minus infinity, as Python's //. Anything // 0 is 0, so that evaluation is total.
  Sym floor_div(Sym a, Sym b);
  Sym mod(Sym a, Sym b);  ///< Sign of the divisor, as Python's %. Anything mod 0 is 0.
  Sym min(Sym a, Sym b);
  Sym max(Sym a, Sym b);

  std::optional<std::int64_t> as_constant(Sym a) const;
  bool is_constant(Sym a, std::int64_t value) const;
  /// Bounds that hold for every assignment inside the symbols' ranges.
  SymRange range(Sym a) const;
  /// True when no assignment inside the ranges makes the two equal.
  bool is_provably_different(Sym a, Sym b);
  /// Value under an assignment: symbol_values[i] belongs to symbols()[i]. Saturates.
  std::int64_t evaluate(Sym a, std::span<const std::int64_t> symbol_values) const;
  /// Hint value of the expression.
  std::int64_t hint(Sym a) const;

  const std::vector<Symbol>& symbols() const { return symbols_; }
  std::optional<int> symbol_index(Sym a) const;  ///< Index into symbols() when `a` is a symbol.
  SymKind kind(Sym a) const;
  std::pair<Sym, Sym> operands(Sym a) const;  ///< Of a binary kind.
  /// Indices of the symbols that occur in `a`, ascending.
  std::vector<int> symbols_in(Sym a) const;

  bool is_valid(Sym a) const { return a.id >= 0 && a.id < static_cast<int>(nodes_.size()); }

  /// "s0*7 + 1", "(s0 + 7)//8", "mod(s0, 8)", "min(s0, 512)".
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
    SymRange range;
  };
  /// constant + sum of coefficient * term; terms are neither constants, sums nor scaled.
  struct Linear;
  friend class SymParser;

  Sym intern(SymKind kind, std::int64_t value, Sym a, Sym b);
  SymRange range_of(const Node& node) const;
  const Node& node(Sym a) const { return nodes_[static_cast<std::size_t>(a.id)]; }
  int compare(Sym a, Sym b) const;  ///< Structural order, independent of creation order.
  Linear linear_of(Sym a) const;
  Sym build(Linear linear);
  void add_term(Linear& linear, Sym term, std::int64_t coefficient) const;
  std::vector<Sym> factors_of(Sym a) const;
  Sym product(std::vector<Sym> factors);
  /// Splits `a` into quotient * b + rest where that is exact. Needs b != 0.
  void split_by(Sym a, Sym b, Linear& quotient, Linear& rest);
  /// True when a <= b is provable, looking `depth` levels into min and max.
  bool is_at_most(Sym a, Sym b, int depth);
  Sym extreme(SymKind kind, Sym a, Sym b);  ///< kMin or kMax.

  std::vector<Node> nodes_;
  std::vector<Symbol> symbols_;
  std::unordered_map<std::string, std::int32_t> interned_;
  std::unordered_map<std::string, Sym> symbols_by_name_;
};

}  // namespace breakeven
