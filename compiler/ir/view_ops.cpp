#include <algorithm>
#include <utility>

#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

using Types = std::vector<TensorType>;

std::size_t dim_of(const RuleArgs& args, std::string_view name, std::size_t rank,
                   std::int64_t missing) {
  return static_cast<std::size_t>(wrap_dim(args.integer(name, missing), rank));
}

Types view_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  const char* sizes = args.find("shape") != nullptr ? "shape" : "size";
  return {{self.dtype,
           infer_sizes(args.syms(), element_count(args.syms(), self.sizes), args.syms_of(sizes))}};
}

Types flatten_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  const std::size_t start = dim_of(args, "start_dim", self.sizes.size(), 0);
  const std::size_t end = dim_of(args, "end_dim", self.sizes.size(), -1);
  if (start > end) refuse("flatten from a later dim to an earlier one");
  if (self.sizes.empty()) return {{self.dtype, {args.syms().constant(1)}}};
  Sym merged = args.syms().constant(1);
  for (std::size_t i = start; i <= end; ++i) merged = args.syms().mul(merged, self.sizes[i]);
  const auto at = [&](std::size_t i) {
    return self.sizes.begin() + static_cast<std::ptrdiff_t>(i);
  };
  self.sizes.erase(at(start), at(end + 1));
  self.sizes.insert(at(start), merged);
  return {self};
}

Types unflatten_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  if (self.sizes.empty()) refuse("unflatten of a scalar");
  const std::size_t dim = dim_of(args, "dim", self.sizes.size(), 0);
  const std::vector<Sym> parts = infer_sizes(args.syms(), self.sizes[dim], args.syms_of("sizes"));
  const auto place = self.sizes.erase(self.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  self.sizes.insert(place, parts.begin(), parts.end());
  return {self};
}

Types permute_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  const std::vector<std::int64_t> dims = args.integers("dims");
  if (dims.size() != self.sizes.size()) refuse("permute names another number of dims");
  wrap_dims(dims, self.sizes.size());
  TensorType type{self.dtype, {}};
  for (const std::int64_t dim : dims) {
    const auto source = static_cast<std::size_t>(wrap_dim(dim, self.sizes.size()));
    type.sizes.push_back(self.sizes[source]);
  }
  return {type};
}

Types transpose_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  if (self.sizes.empty()) return {self};
  std::swap(self.sizes[dim_of(args, "dim0", self.sizes.size(), 0)],
            self.sizes[dim_of(args, "dim1", self.sizes.size(), 0)]);
  return {self};
}

Types t_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  if (self.sizes.size() > 2) refuse("t of a tensor with more than 2 dims");
  std::reverse(self.sizes.begin(), self.sizes.end());
  return {self};
}

Types unsqueeze_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  const std::size_t dim = dim_of(args, "dim", self.sizes.size() + 1, 0);
  self.sizes.insert(self.sizes.begin() + static_cast<std::ptrdiff_t>(dim), args.syms().constant(1));
  return {self};
}

Types squeeze_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  const bool all = args.find("dim") == nullptr;
  const std::vector<std::int64_t> dims = args.integers("dim");
  // An empty list of dims squeezes nothing; wrap_dims would read it as all.
  if (!all && dims.empty()) return {self};
  std::vector<Sym> kept;
  const std::vector<std::int64_t> named = wrap_dims(dims, self.sizes.size());
  for (std::size_t i = 0; i < self.sizes.size(); ++i) {
    const bool chosen =
        std::find(named.begin(), named.end(), static_cast<std::int64_t>(i)) != named.end();
    const SymRange range = args.syms().range(self.sizes[i]);
    if (chosen && range.lo <= 1 && range.hi >= 1 && range.lo != range.hi) {
      refuse_undecidable("squeeze of a dim that may be 1: " + args.syms().to_string(self.sizes[i]));
    }
    if (!chosen || !args.syms().is_constant(self.sizes[i], 1)) kept.push_back(self.sizes[i]);
  }
  self.sizes = std::move(kept);
  return {self};
}

std::vector<Sym> expanded(const RuleArgs& args, const std::vector<Sym>& from,
                          const std::vector<Sym>& to) {
  SymContext& syms = args.syms();
  if (to.size() < from.size()) refuse("expand to fewer dims");
  std::vector<Sym> sizes = to;
  const std::size_t added = to.size() - from.size();
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (i < added) {
      if (syms.is_constant(to[i], -1)) refuse("expand keeps (-1) a dim that is not there");
      continue;
    }
    const Sym size = from[i - added];
    if (syms.is_constant(to[i], -1)) sizes[i] = size;
    if (sizes[i] == size || syms.is_constant(size, 1)) continue;
    const SymRange range = syms.range(size);
    if (range.lo <= 1 && range.hi >= 1) {
      refuse_undecidable("expand of a dim that may be 1: " + syms.to_string(size));
    }
    require_equal(syms, size, sizes[i], "expand of a dim that is not 1");
  }
  return sizes;
}

Types expand_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  return {{self.dtype, expanded(args, self.sizes, args.syms_of("size"))}};
}

Types expand_as_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  return {{self.dtype, expanded(args, self.sizes, args.tensor("other").sizes)}};
}

Types slice_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  if (self.sizes.empty()) refuse("slice of a scalar");
  SymContext& syms = args.syms();
  const std::size_t dim = dim_of(args, "dim", self.sizes.size(), 0);
  self.sizes[dim] = slice_bounds(syms, self.sizes[dim], args.sym("start", syms.constant(0)),
                                 args.sym("end", syms.constant(INT64_MAX)), args.integer("step", 1))
                        .count;
  return {self};
}

Types narrow_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  if (self.sizes.empty()) refuse("narrow of a scalar");
  const std::size_t dim = dim_of(args, "dim", self.sizes.size(), 0);
  self.sizes[dim] = args.sym("length", args.syms().constant(0));
  return {self};
}

Types select_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  if (self.sizes.empty()) refuse("select of a scalar");
  const std::size_t dim = dim_of(args, "dim", self.sizes.size(), 0);
  const Sym index = args.sym("index", args.syms().constant(0));
  const SymRange index_range = args.syms().range(index);
  const SymRange size = args.syms().range(self.sizes[dim]);
  if (index_range.lo >= size.hi || (size.hi < INT64_MAX && index_range.hi < -size.hi)) {
    refuse("select of index " + args.syms().to_string(index) + " in a dim of size " +
           args.syms().to_string(self.sizes[dim]));
  }
  self.sizes.erase(self.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  return {self};
}

/// Types of the parts of `self` along "dim" with the given sizes.
Types parts_along(const TensorType& self, std::size_t dim, const std::vector<Sym>& sizes) {
  Types types;
  for (const Sym size : sizes) {
    TensorType part = self;
    part.sizes[dim] = size;
    types.push_back(std::move(part));
  }
  return types;
}

Types split_into(const RuleArgs& args, const TensorType& self, std::size_t dim, std::int64_t part) {
  const std::optional<std::int64_t> size = args.syms().as_constant(self.sizes[dim]);
  if (!size) refuse_undecidable("split of a dim of symbolic size");
  if (part < 0 || (part == 0 && *size != 0)) refuse("split into parts of size 0");
  std::vector<Sym> sizes;
  std::int64_t at = 0;
  do {
    const std::int64_t count = std::min(part, *size - at);
    sizes.push_back(args.syms().constant(count));
    at += count;
    if (sizes.size() > 4096) refuse("split into more than 4096 parts");
  } while (at < *size);
  return parts_along(self, dim, sizes);
}

Types split_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  if (self.sizes.empty()) refuse("split of a scalar");
  const std::size_t dim = dim_of(args, "dim", self.sizes.size(), 0);
  return split_into(args, self, dim, args.integer("split_size"));
}

Types chunk_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  if (self.sizes.empty()) refuse("chunk of a scalar");
  const std::size_t dim = dim_of(args, "dim", self.sizes.size(), 0);
  const std::int64_t chunks = args.integer("chunks");
  if (chunks <= 0) refuse("chunk into " + std::to_string(chunks) + " parts");
  const std::optional<std::int64_t> size = args.syms().as_constant(self.sizes[dim]);
  if (!size) refuse_undecidable("chunk of a dim of symbolic size");
  if (*size == 0) {
    return parts_along(self, dim,
                       std::vector<Sym>(static_cast<std::size_t>(chunks), args.syms().constant(0)));
  }
  return split_into(args, self, dim, (*size + chunks - 1) / chunks);
}

Types split_sizes_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  if (self.sizes.empty()) refuse("split of a scalar");
  const std::size_t dim = dim_of(args, "dim", self.sizes.size(), 0);
  const std::vector<Sym> sizes =
      args.syms_of(args.find("split_sizes") != nullptr ? "split_sizes" : "split_size");
  Sym total = args.syms().constant(0);
  for (const Sym size : sizes) total = args.syms().add(total, size);
  require_equal(args.syms(), total, self.sizes[dim], "parts of a split do not add up");
  if (sizes.empty()) refuse("split into no part");
  return parts_along(self, dim, sizes);
}

Types unbind_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  if (self.sizes.empty()) refuse("unbind of a scalar");
  const std::size_t dim = dim_of(args, "dim", self.sizes.size(), 0);
  const std::optional<std::int64_t> size = args.syms().as_constant(self.sizes[dim]);
  if (!size) refuse_undecidable("unbind of a dim of symbolic size");
  if (*size < 1 || *size > 4096) refuse("unbind into " + std::to_string(*size) + " parts");
  self.sizes.erase(self.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  return Types(static_cast<std::size_t>(*size), self);
}

Types same_rule(const RuleArgs& args) { return {args.tensor("self")}; }

OpRow view(std::string_view name, TypeRule type_rule) {
  return {name, OpClass::kView, type_rule, {"self"}};
}

/// A view that canonicalize writes as view, permute, expand or slice.
OpRow rewritten(std::string_view name, TypeRule type_rule) {
  return {name, OpClass::kComposite, type_rule, {"self"}};
}

}  // namespace

namespace {

/// True for max(0, min(.., size, ..)), which no clamp into [0, size] changes.
bool is_clamped(const SymContext& syms, Sym bound, Sym size) {
  if (syms.kind(bound) != SymKind::kMax) return false;
  const auto [zero, rest] = syms.operands(bound);
  if (!syms.is_constant(zero, 0) || syms.kind(rest) != SymKind::kMin) return false;
  Sym chain = rest;
  for (; syms.kind(chain) == SymKind::kMin; chain = syms.operands(chain).first) {
    if (syms.operands(chain).second == size) return true;
  }
  return chain == size;
}

}  // namespace

SliceBounds slice_bounds(SymContext& syms, Sym size, Sym start, Sym end, std::int64_t step) {
  if (step < 1) refuse("slice with step " + std::to_string(step));
  const auto clamp = [&](Sym bound) {
    if (is_clamped(syms, bound, size)) return bound;
    const SymRange range = syms.range(bound);
    if (range.hi < 0) {
      bound = syms.add(bound, size);
    } else if (range.lo < 0) {
      refuse_undecidable("slice bound of unknown sign: " + syms.to_string(bound));
    }
    return syms.max(syms.constant(0), syms.min(bound, size));
  };
  SliceBounds bounds;
  bounds.start = clamp(start);
  bounds.end = syms.max(clamp(end), bounds.start);
  const Sym length = syms.sub(bounds.end, bounds.start);
  bounds.count = syms.floor_div(syms.add(length, syms.constant(step - 1)), syms.constant(step));
  return bounds;
}

std::vector<Sym> infer_sizes(SymContext& syms, Sym total, std::vector<Sym> sizes) {
  Sym known = syms.constant(1);
  Sym* inferred = nullptr;
  for (Sym& size : sizes) {
    if (syms.is_constant(size, -1)) {
      if (inferred != nullptr) refuse("more than one size is to be inferred");
      inferred = &size;
    } else {
      if (syms.range(size).hi < 0) refuse("a negative size: " + syms.to_string(size));
      known = syms.mul(known, size);
    }
  }
  if (inferred == nullptr) {
    require_equal(syms, total, known, "the view has another number of elements");
    return sizes;
  }
  if (syms.is_constant(known, 0)) refuse("a size cannot be inferred beside a size of 0");
  *inferred = syms.floor_div(total, known);
  require_equal(syms, total, syms.mul(*inferred, known), "the view has another number of elements");
  return sizes;
}

std::vector<OpRow> view_rows() {
  std::vector<OpRow> rows = {
      view("aten.view.default", rule<view_rule>),
      view("aten.permute.default", rule<permute_rule>),
      view("aten.expand.default", rule<expand_rule>),
      view("aten.slice.Tensor", rule<slice_rule>),
      rewritten("aten.reshape.default", rule<view_rule>),
      rewritten("aten._unsafe_view.default", rule<view_rule>),
      rewritten("aten.flatten.using_ints", rule<flatten_rule>),
      rewritten("aten.unflatten.int", rule<unflatten_rule>),
      rewritten("aten.transpose.int", rule<transpose_rule>),
      rewritten("aten.t.default", rule<t_rule>),
      rewritten("aten.unsqueeze.default", rule<unsqueeze_rule>),
      rewritten("aten.squeeze.default", rule<squeeze_rule>),
      rewritten("aten.squeeze.dim", rule<squeeze_rule>),
      rewritten("aten.squeeze.dims", rule<squeeze_rule>),
      rewritten("aten.expand_as.default", rule<expand_as_rule>),
      rewritten("aten.narrow.default", rule<narrow_rule>),
      rewritten("aten.select.int", rule<select_rule>),
      rewritten("aten.split.Tensor", rule<split_rule>),
      rewritten("aten.split.sizes", rule<split_sizes_rule>),
      rewritten("aten.split_with_sizes.default", rule<split_sizes_rule>),
      rewritten("aten.chunk.default", rule<chunk_rule>),
      rewritten("aten.unbind.int", rule<unbind_rule>),
  };
  for (const std::string_view name :
       {"aten.alias.default", "aten.detach.default", "aten.contiguous.default",
        "aten.clone.default", "aten.lift_fresh_copy.default"}) {
    rows.push_back(rewritten(name, rule<same_rule>));
  }
  return rows;
}

}  // namespace breakeven
