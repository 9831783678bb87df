#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "compiler/support/check.h"

namespace breakeven {

/// Why something was not done: a value that is counted and reported, never an exception.
struct Refusal {
  std::string code;    ///< Stable, snake_case, for counting: "unsupported_dtype".
  std::string reason;  ///< One sentence for a person, with the offending value.
};

/// Either a value or the Refusal that stands in its place.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Result(Refusal refusal) : state_(std::move(refusal)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T& value() & {
    BE_CHECK(ok(), refusal().reason);
    return std::get<T>(state_);
  }
  const T& value() const& {
    BE_CHECK(ok(), refusal().reason);
    return std::get<T>(state_);
  }
  T&& value() && {
    BE_CHECK(ok(), refusal().reason);
    return std::get<T>(std::move(state_));
  }
  const Refusal& refusal() const { return std::get<Refusal>(state_); }

 private:
  std::variant<T, Refusal> state_;
};

}  // namespace breakeven
