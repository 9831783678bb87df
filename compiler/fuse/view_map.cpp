#include <algorithm>
#include <string_view>

#include "compiler/fuse/index.h"

namespace breakeven {
namespace {

struct ViewContext {
  Graph& graph;
  const Node& node;
  const std::vector<Sym>& in;   // Sizes of self.
  const std::vector<Sym>& out;  // Sizes of the output.
  int output;
  const IndexMap& at;

  SymContext& syms() const { return graph.syms; }
};

std::optional<std::int64_t> integer_arg(const ViewContext& view, std::string_view name) {
  const ArgValue* arg = find_arg(view.node, name);
  if (arg == nullptr || !std::holds_alternative<Sym>(*arg)) return std::nullopt;
  return view.graph.syms.as_constant(std::get<Sym>(*arg));
}

std::size_t dim_arg(const ViewContext& view, std::string_view name, std::int64_t fallback,
                    std::size_t rank) {
  const std::int64_t dim = integer_arg(view, name).value_or(fallback);
  return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim);
}

/// Length of the shortest runs from i and j with equal products, {0, 0} when there are none.
std::pair<std::size_t, std::size_t> matching_runs(SymContext& syms, std::span<const Sym> in,
                                                  std::span<const Sym> out) {
  Sym in_product = syms.constant(1);
  for (std::size_t i = 1; i <= in.size(); ++i) {
    in_product = syms.mul(in_product, in[i - 1]);
    Sym out_product = syms.constant(1);
    for (std::size_t j = 1; j <= out.size(); ++j) {
      out_product = syms.mul(out_product, out[j - 1]);
      if (in_product == out_product) return {i, j};
    }
  }
  return {0, 0};
}

/// Dims that are not of size 1, since those of size 1 come and go freely in a reshape.
std::vector<std::size_t> proper_dims(const SymContext& syms, std::span<const Sym> sizes) {
  std::vector<std::size_t> dims;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (!syms.is_constant(sizes[d], 1)) dims.push_back(d);
  }
  return dims;
}

Result<IndexMap> reshape_map(const ViewContext& view) {
  SymContext& syms = view.syms();
  IndexMap map(view.in.size(), constant_index(syms, 0));
  const std::vector<std::size_t> in_dims = proper_dims(syms, view.in);
  const std::vector<std::size_t> out_dims = proper_dims(syms, view.out);
  std::vector<Sym> in;
  std::vector<Sym> out;
  for (std::size_t d : in_dims) in.push_back(view.in[d]);
  for (std::size_t d : out_dims) out.push_back(view.out[d]);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < in.size() && j < out.size()) {
    const auto [in_run, out_run] =
        matching_runs(syms, std::span(in).subspan(i), std::span(out).subspan(j));
    if (in_run == 0) return Refusal{"view", "sizes before and after do not match up"};
    if (in_run > 1) {
      return Refusal{"view_merges_dims", "the reshape merges dims, so its index is not affine"};
    }
    IndexMap run;
    for (std::size_t k = 0; k < out_run; ++k) run.push_back(view.at[out_dims[j + k]]);
    map[in_dims[i]] = linear_index(syms, run, std::span(out).subspan(j, out_run));
    i += in_run;
    j += out_run;
  }
  if (i != in.size() || j != out.size()) {
    return Refusal{"view", "sizes before and after do not match up"};
  }
  return map;
}

Result<IndexMap> permute_map(const ViewContext& view) {
  const ArgValue* dims = find_arg(view.node, "dims");
  if (dims == nullptr || !std::holds_alternative<std::vector<Sym>>(*dims)) {
    return Refusal{"view", "permute without dims"};
  }
  const auto& order = std::get<std::vector<Sym>>(*dims);
  IndexMap map(view.in.size(), constant_index(view.syms(), 0));
  for (std::size_t d = 0; d < order.size(); ++d) {
    const auto dim = view.syms().as_constant(order[d]);
    if (!dim) return Refusal{"view", "permute by a symbolic dim"};
    map[static_cast<std::size_t>(*dim < 0 ? *dim + static_cast<std::int64_t>(view.in.size())
                                          : *dim)] = view.at[d];
  }
  return map;
}

Result<IndexMap> transpose_map(const ViewContext& view) {
  IndexMap map = view.at;
  if (map.size() < 2) return map;
  const bool plain = view.node.op == "aten.t.default";
  const std::size_t a = plain ? 0 : dim_arg(view, "dim0", 0, map.size());
  const std::size_t b = plain ? 1 : dim_arg(view, "dim1", 1, map.size());
  std::swap(map[a], map[b]);
  return map;
}

Result<IndexMap> expand_map(const ViewContext& view) {
  return broadcast_map(view.syms(), view.at, view.out, view.in);
}

/// First element of slice or select along a dim of `size`; refuses a start whose sign is unknown.
Result<Sym> start_of(const ViewContext& view, std::string_view name, Sym size) {
  SymContext& syms = view.syms();
  const ArgValue* arg = find_arg(view.node, name);
  if (arg == nullptr || std::holds_alternative<std::monostate>(*arg)) return syms.constant(0);
  if (!std::holds_alternative<Sym>(*arg)) return Refusal{"view", "start is not an integer"};
  const Sym start = std::get<Sym>(*arg);
  const SymRange range = syms.range(start);
  if (range.lo >= 0) return start;
  const auto constant = syms.as_constant(start);
  if (constant && syms.range(size).lo + *constant >= 0) return syms.add(size, start);
  return Refusal{"view_start",
                 "start " + syms.to_string(start) + " may lie before the first element"};
}

Result<IndexMap> slice_map(const ViewContext& view) {
  SymContext& syms = view.syms();
  const std::size_t dim = dim_arg(view, "dim", 0, view.in.size());
  const ArgValue* step = find_arg(view.node, "step");
  const Sym stride = step != nullptr && std::holds_alternative<Sym>(*step) ? std::get<Sym>(*step)
                                                                           : syms.constant(1);
  Result<Sym> start =
      start_of(view, view.node.op == "aten.select.int" ? "index" : "start", view.in[dim]);
  if (!start) return start.refusal();
  IndexMap map = view.at;
  const Index base{start.value(), {}};
  if (view.node.op == "aten.select.int") {
    map.insert(map.begin() + static_cast<std::ptrdiff_t>(dim), base);
  } else {
    map[dim] = add(syms, base, scale(syms, map[dim], stride));
  }
  return map;
}

/// split, split_with_sizes, chunk: output k starts where the outputs before it end.
Result<IndexMap> split_map(const ViewContext& view) {
  SymContext& syms = view.syms();
  const std::size_t dim = dim_arg(view, "dim", 0, view.in.size());
  Sym start = syms.constant(0);
  for (int k = 0; k < view.output; ++k) {
    start =
        syms.add(start, view.graph.type(view.node.outputs[static_cast<std::size_t>(k)]).sizes[dim]);
  }
  IndexMap map = view.at;
  map[dim] = add(syms, map[dim], Index{start, {}});
  return map;
}

Result<IndexMap> unbind_map(const ViewContext& view) {
  const std::size_t dim = dim_arg(view, "dim", 0, view.in.size());
  IndexMap map = view.at;
  map.insert(map.begin() + static_cast<std::ptrdiff_t>(dim),
             constant_index(view.syms(), view.output));
  return map;
}

Result<IndexMap> same_map(const ViewContext& view) { return view.at; }

struct ViewRule {
  std::string_view op;
  Result<IndexMap> (*map)(const ViewContext& view);
};

constexpr ViewRule kViewRules[] = {
    {"aten.view.default", reshape_map},         {"aten.reshape.default", reshape_map},
    {"aten._unsafe_view.default", reshape_map}, {"aten.flatten.using_ints", reshape_map},
    {"aten.unflatten.int", reshape_map},        {"aten.squeeze.default", reshape_map},
    {"aten.squeeze.dim", reshape_map},          {"aten.squeeze.dims", reshape_map},
    {"aten.unsqueeze.default", reshape_map},    {"aten.permute.default", permute_map},
    {"aten.transpose.int", transpose_map},      {"aten.t.default", transpose_map},
    {"aten.expand.default", expand_map},        {"aten.expand_as.default", expand_map},
    {"aten.broadcast_to.default", expand_map},  {"aten.slice.Tensor", slice_map},
    {"aten.narrow.default", slice_map},         {"aten.select.int", slice_map},
    {"aten.split.Tensor", split_map},           {"aten.split_with_sizes.default", split_map},
    {"aten.chunk.default", split_map},          {"aten.unbind.int", unbind_map},
    {"aten.alias.default", same_map},           {"aten.detach.default", same_map},
    {"aten.contiguous.default", same_map},      {"aten.clone.default", same_map},
    {"aten.lift_fresh_copy.default", same_map},
};

}  // namespace

Result<IndexMap> view_source_map(Graph& graph, const Node& node, int output, const IndexMap& at) {
  const ArgValue* self = find_arg(node, "self");
  if (self == nullptr || !std::holds_alternative<ValueId>(*self)) {
    return Refusal{"view", node.op + " has no operand self"};
  }
  const std::vector<Sym> in = graph.type(std::get<ValueId>(*self)).sizes;
  const std::vector<Sym> out = graph.type(node.outputs[static_cast<std::size_t>(output)]).sizes;
  for (const ViewRule& rule : kViewRules) {
    if (rule.op == node.op) return rule.map({graph, node, in, out, output, at});
  }
  return Refusal{"view_unknown", "no index rule for view " + node.op};
}

}  // namespace breakeven
