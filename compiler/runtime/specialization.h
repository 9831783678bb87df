#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/runtime/compiled_model.h"

namespace breakeven {

/// How a program's graph is made from the imported one: the symbols' sizes in the request that
/// asked for it, and which of them become constants.
struct Specialization {
  ShapePolicy policy = ShapePolicy::kStatic;
  std::vector<std::int64_t> values;
  std::vector<bool> fixed;

  bool fixes_all(const std::vector<int>& symbols) const;
  bool fixes_any() const;
  Graph apply(const Graph& graph) const;  ///< `graph` as imported, with those constants.
  std::string policy_name() const;        ///< "static", "dynamic", "auto".
};

/// Of a model's programs, one after the other. kAuto fixes what has not varied so far: a first
/// program for the first shape alone, then at most one more for each symbol.
class Specializer {
 public:
  Specializer(const Graph& graph, ShapePolicy policy);
  /// For the next program, which is to serve a request of these sizes.
  Specialization next(std::vector<std::int64_t> values);

 private:
  ShapePolicy policy_;
  std::vector<bool> varied_;
  std::vector<std::int64_t> first_;  ///< Sizes of the first program's request.
};

}  // namespace breakeven
