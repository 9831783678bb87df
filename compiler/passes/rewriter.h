#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace breakeven {

/// Builds a new graph while walking an old one. Symbolic sizes keep their handles: the new graph
/// starts with a copy of the old one's context.
class Rewriter {
 public:
  explicit Rewriter(const Graph& source);

  const Graph& source() const { return source_; }
  Graph& graph() { return graph_; }
  SymContext& syms() { return graph_.syms; }

  /// Called for every op; returns false to have the node copied as it is.
  using Rule = std::function<bool(Rewriter& rewriter, const Node& node)>;
  /// Walks the source. A rule that leaves by refuse() (type_rules.h) has its node copied.
  Graph run(const Rule& rule);
  /// Copies the nodes of the source that are marked, in order.
  Graph run_live(const std::vector<bool>& is_live);

  /// The value in the new graph that stands for one of the old.
  ValueId mapped(ValueId old) const { return map_[static_cast<std::size_t>(old.index)]; }
  std::vector<Arg> mapped(const std::vector<Arg>& args) const;
  const TensorType& type(ValueId id) const { return graph_.type(id); }

  /// Says what stands for output `i` of `node`.
  void replace(const Node& node, std::size_t i, ValueId value);
  void replace(const Node& node, ValueId value) { replace(node, 0, value); }

  /// Appends an op; refuses when the type rule does. One output.
  ValueId add(std::string op, std::vector<Arg> args, std::string name = {});
  /// Appends an op with the type recorded for output 0 of `node`, and its name.
  ValueId add_like(const Node& node, std::string op, std::vector<Arg> args);

  /// The tensor argument in the new graph; refuses when it is missing.
  ValueId tensor(const Node& node, std::string_view name) const;
  /// Invalid when the argument is missing or none.
  ValueId optional_tensor(const Node& node, std::string_view name) const;

  // Canonical forms; each returns its operand when nothing would change.
  ValueId view(ValueId self, std::vector<Sym> sizes, std::string name = {});
  ValueId permute(ValueId self, std::vector<std::int64_t> dims, std::string name = {});
  ValueId expand(ValueId self, std::vector<Sym> sizes, std::string name = {});
  ValueId slice(ValueId self, std::int64_t dim, Sym start, Sym end, std::int64_t step,
                std::string name = {});
  ValueId convert(ValueId self, DType dtype, std::string name = {});
  ValueId full(std::vector<Sym> sizes, ArgValue value, DType dtype, std::string name = {});

  std::vector<Sym> constants(const std::vector<std::int64_t>& values);

 private:
  void copy(const Node& node);
  Graph take();

  const Graph& source_;
  Graph graph_;
  std::vector<ValueId> map_;
};

}  // namespace breakeven
