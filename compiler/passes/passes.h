#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/clock.h"

namespace breakeven {

/// A graph-to-graph rewrite that keeps the meaning.
struct Pass {
  std::string_view name;         ///< "canonicalize": what `explain --to` takes.
  std::string_view description;  ///< One sentence.
  Graph (*run)(const Graph& graph);
};

/// The passes in the order in which they run.
std::span<const Pass> pipeline();

/// The graph after one pass.
struct StageGraph {
  std::string name;
  Graph graph;
  Nanos duration = 0;
};

/// Runs the pipeline; the graph is verified before the first and after every pass. Throws UserError
/// when the given graph is unsound; a pass that breaks a sound one aborts. With `stages`, appends
/// the graph after each pass.
///
/// The result holds these ops alone (class_of says which is which):
/// - pointwise, every tensor operand in compute_dtype; conversions are explicit _to_copy(self,
///   dtype); no alpha; a where condition is bool;
/// - reductions sum.dim_IntList, prod.dim_int, amax.default, amin.default, any.dims, all.dims with
///   args self, dim (ascending, not negative; prod one integer) and keepdim; the operand has the
///   output's dtype, which is no 16-bit float for sums and products;
/// - views view.default(self, size), permute.default(self, dims), expand.default(self, size),
///   slice.Tensor(self, dim, start, end, step) with all args explicit, no -1 and bounds within the
///   dim;
/// - embedding, index_select; cat(tensors, dim) of equal dtypes; full(size, fill_value, dtype),
///   arange.start_step(start, end, step, dtype);
/// - extern: the library's ops, unknown ops, and the rare composite whose arguments the rewrites
///   cannot serve (class_of says kComposite: treat it as extern).
Graph run_pipeline(Graph graph, std::vector<StageGraph>* stages = nullptr);

/// Normal forms: identities dropped, views as view / permute / expand / slice, creations as full
/// and arange, dims counted from the front, conversions as _to_copy.
Graph canonicalize(const Graph& graph);
/// Composite ops as pointwise ops and reductions; explicit conversions wherever dtypes meet.
Graph decompose(const Graph& graph);
/// Ops on small literals computed now.
Graph fold_constants(const Graph& graph);
/// Pure ops, weights and literals without a user dropped. Inputs stay.
Graph eliminate_dead(const Graph& graph);

/// The graph with some of its symbols as constants: symbol i of syms.symbols() has the size
/// symbol_values[i] where fixed[i], and else stays a symbol of the same name and range.
Graph specialize(const Graph& graph, std::span<const std::int64_t> symbol_values,
                 const std::vector<bool>& fixed);

}  // namespace breakeven
