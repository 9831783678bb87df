#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "compiler/ir/op_table.h"
#include "compiler/ir/type_rules.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewriter.h"

namespace breakeven {
namespace {

using Rewrite = bool (*)(Rewriter& r, const Node& node);

const TensorType& declared(Rewriter& r, const Node& node, std::size_t i = 0) {
  return r.source().type(node.outputs[i]);
}

RuleArgs args_of(Rewriter& r, const std::vector<Arg>& mapped) { return {r.graph(), mapped}; }

std::int64_t dim_of(Rewriter& r, const Node& node, std::string_view name, std::size_t rank,
                    std::int64_t missing) {
  const std::vector<Arg> mapped = r.mapped(node.args);
  return wrap_dim(args_of(r, mapped).integer(name, missing), rank);
}

// --- identities and conversions ---------------------------------------------------------------

bool drop(Rewriter& r, const Node& node) {
  r.replace(node, r.tensor(node, "self"));
  return true;
}

bool drop_dropout(Rewriter& r, const Node& node) {
  if (class_of(r.source(), node) == OpClass::kExtern) return false;
  r.replace(node, r.tensor(node, "input"));
  return true;
}

bool write_conversion(Rewriter& r, const Node& node) {
  r.replace(node, r.convert(r.tensor(node, "self"), declared(r, node).dtype, node.name));
  return true;
}

bool write_copy(Rewriter& r, const Node& node) {
  const TensorType& type = declared(r, node);
  const ValueId expanded = r.expand(r.tensor(node, "src"), type.sizes);
  r.replace(node, r.convert(expanded, type.dtype, node.name));
  return true;
}

// --- views ------------------------------------------------------------------------------------

bool write_view(Rewriter& r, const Node& node) {
  r.replace(node, r.view(r.tensor(node, "self"), declared(r, node).sizes, node.name));
  return true;
}

bool write_permute(Rewriter& r, const Node& node) {
  const ValueId self = r.tensor(node, "self");
  const std::size_t rank = r.type(self).sizes.size();
  std::vector<std::int64_t> dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  if (node.op == "aten.permute.default") {
    const std::vector<Arg> mapped = r.mapped(node.args);
    dims = args_of(r, mapped).integers("dims");
    for (std::int64_t& dim : dims) dim = wrap_dim(dim, rank);
  } else if (node.op == "aten.t.default") {
    std::reverse(dims.begin(), dims.end());
  } else if (rank > 0) {
    std::swap(dims[static_cast<std::size_t>(dim_of(r, node, "dim0", rank, 0))],
              dims[static_cast<std::size_t>(dim_of(r, node, "dim1", rank, 0))]);
  }
  r.replace(node, r.permute(self, std::move(dims), node.name));
  return true;
}

bool write_expand(Rewriter& r, const Node& node) {
  r.replace(node, r.expand(r.tensor(node, "self"), declared(r, node).sizes, node.name));
  return true;
}

bool write_slice(Rewriter& r, const Node& node) {
  const ValueId self = r.tensor(node, "self");
  const std::int64_t dim = dim_of(r, node, "dim", r.type(self).sizes.size(), 0);
  const std::vector<Arg> mapped = r.mapped(node.args);
  const RuleArgs args = args_of(r, mapped);
  const Sym zero = r.syms().constant(0);
  Sym start = args.sym("start", zero);
  Sym end = args.sym("end", r.syms().constant(INT64_MAX));
  std::int64_t step = args.integer("step", 1);
  if (node.op == "aten.narrow.default") {
    if (r.syms().range(start).hi < 0) {
      start = r.syms().add(start, r.type(self).sizes[static_cast<std::size_t>(dim)]);
    }
    end = r.syms().add(start, args.sym("length", zero));
  }
  r.replace(node, r.slice(self, dim, start, end, step, node.name));
  return true;
}

/// One index of a dim: a slice of size 1 whose dim is then dropped.
ValueId select(Rewriter& r, ValueId self, std::int64_t dim, Sym index, std::vector<Sym> sizes,
               const std::string& name) {
  if (r.syms().range(index).hi < 0) {
    index = r.syms().add(index, r.type(self).sizes[static_cast<std::size_t>(dim)]);
  }
  const Sym end = r.syms().add(index, r.syms().constant(1));
  return r.view(r.slice(self, dim, index, end, 1), std::move(sizes), name);
}

bool write_select(Rewriter& r, const Node& node) {
  const ValueId self = r.tensor(node, "self");
  const std::int64_t dim = dim_of(r, node, "dim", r.type(self).sizes.size(), 0);
  const std::vector<Arg> mapped = r.mapped(node.args);
  const Sym index = args_of(r, mapped).sym("index", r.syms().constant(0));
  r.replace(node, select(r, self, dim, index, declared(r, node).sizes, node.name));
  return true;
}

bool write_parts(Rewriter& r, const Node& node) {
  const ValueId self = r.tensor(node, "self");
  const std::int64_t dim = dim_of(r, node, "dim", r.type(self).sizes.size(), 0);
  const bool drops_dim = node.op == "aten.unbind.int";
  Sym at = r.syms().constant(0);
  std::vector<ValueId> parts;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorType& type = declared(r, node, i);
    const std::string name = node.name.empty() ? "" : node.name + "." + std::to_string(i);
    if (drops_dim) {
      parts.push_back(select(r, self, dim, at, type.sizes, name));
      at = r.syms().add(at, r.syms().constant(1));
      continue;
    }
    const Sym end = r.syms().add(at, type.sizes[static_cast<std::size_t>(dim)]);
    parts.push_back(r.slice(self, dim, at, end, 1, name));
    at = end;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) r.replace(node, i, parts[i]);
  return true;
}

// --- joins and creations ----------------------------------------------------------------------

bool write_cat(Rewriter& r, const Node& node) {
  const TensorType& type = declared(r, node);
  const auto& tensors = std::get<std::vector<ValueId>>(*find_arg(node, "tensors"));
  const std::int64_t dim = dim_of(r, node, "dim", type.sizes.size(), 0);
  std::vector<ValueId> parts;
  for (const ValueId old : tensors) {
    ValueId part = r.mapped(old);
    const std::vector<Sym>& sizes = r.type(part).sizes;
    const bool is_stack = node.op == "aten.stack.default";
    if (!is_stack && sizes.size() == 1 && r.syms().is_constant(sizes[0], 0) &&
        type.sizes.size() != 1) {
      continue;  // The old rule: a 1-dim empty tensor joins anything and adds nothing.
    }
    if (is_stack) {
      std::vector<Sym> widened = sizes;
      widened.insert(widened.begin() + dim, r.syms().constant(1));
      part = r.view(part, std::move(widened));
    }
    parts.push_back(part);
  }
  if (parts.size() == 1) {
    r.replace(node, r.convert(parts.front(), type.dtype, node.name));
    return true;
  }
  r.replace(node, r.add_like(node, "aten.cat.default",
                             {{"tensors", std::move(parts)}, {"dim", r.syms().constant(dim)}}));
  return true;
}

bool write_full(Rewriter& r, const Node& node) {
  const TensorType& type = declared(r, node);
  const ArgValue* given = find_arg(node, "fill_value");
  if (given == nullptr) given = find_arg(node, "s");
  ArgValue value = r.syms().constant(0);
  if (given != nullptr) {
    value = *given;
  } else if (node.op.find("ones") != std::string::npos) {
    value = r.syms().constant(1);
  }
  r.replace(node, r.full(type.sizes, std::move(value), type.dtype, node.name));
  return true;
}

bool write_arange(Rewriter& r, const Node& node) {
  const auto or_else = [&](std::string_view name, std::int64_t missing) -> ArgValue {
    const ArgValue* value = find_arg(node, name);
    if (value != nullptr && !std::holds_alternative<std::monostate>(*value)) return *value;
    return r.syms().constant(missing);
  };
  r.replace(node, r.add_like(node, "aten.arange.start_step",
                             {{"start", or_else("start", 0)},
                              {"end", or_else("end", 0)},
                              {"step", or_else("step", 1)},
                              {"dtype", declared(r, node).dtype}}));
  return true;
}

// --- pointwise --------------------------------------------------------------------------------

bool write_division(Rewriter& r, const Node& node) {
  const ArgValue* mode = find_arg(node, "rounding_mode");
  const auto* text = mode == nullptr ? nullptr : std::get_if<std::string>(mode);
  const ArgValue other = *find_arg(node, "other");
  const bool is_tensor = std::holds_alternative<ValueId>(other);
  std::vector<Arg> args = r.mapped(node.args);
  std::erase_if(args, [](const Arg& arg) { return arg.name == "rounding_mode"; });
  if (text == nullptr) {
    r.replace(node,
              r.add_like(node, is_tensor ? "aten.div.Tensor" : "aten.div.Scalar", std::move(args)));
    return true;
  }
  if (*text != "floor") return false;  // decompose splits truncation of floats.
  r.replace(node,
            r.add_like(node, is_tensor ? "aten.floor_divide.default" : "aten.floor_divide.Scalar",
                       std::move(args)));
  return true;
}

bool write_square(Rewriter& r, const Node& node) {
  const ValueId self = r.tensor(node, "self");
  r.replace(node, r.add_like(node, "aten.mul.Tensor", {{"self", self}, {"other", self}}));
  return true;
}

bool write_bool_not(Rewriter& r, const Node& node) {
  if (declared(r, node).dtype != DType::kBool) return false;
  r.replace(node, r.add_like(node, "aten.logical_not.default", r.mapped(node.args)));
  return true;
}

bool write_bitwise(Rewriter& r, const Node& node) {
  static const std::unordered_map<std::string_view, std::string_view> kNames = {
      {"aten.__and__.Tensor", "aten.bitwise_and.Tensor"},
      {"aten.__and__.Scalar", "aten.bitwise_and.Scalar"},
      {"aten.__or__.Tensor", "aten.bitwise_or.Tensor"},
      {"aten.__or__.Scalar", "aten.bitwise_or.Scalar"},
      {"aten.__xor__.Tensor", "aten.bitwise_xor.Tensor"},
      {"aten.__xor__.Scalar", "aten.bitwise_xor.Scalar"},
  };
  r.replace(node, r.add_like(node, std::string(kNames.at(node.op)), r.mapped(node.args)));
  return true;
}

// --- reductions and softmax -------------------------------------------------------------------

/// Dims explicit, ascending and not negative; the whole-tensor overloads name all dims.
bool write_reduction(Rewriter& r, const Node& node) {
  static const std::unordered_map<std::string_view, std::string_view> kNames = {
      {"aten.sum.default", "aten.sum.dim_IntList"}, {"aten.mean.default", "aten.mean.dim"},
      {"aten.max.default", "aten.amax.default"},    {"aten.min.default", "aten.amin.default"},
      {"aten.any.default", "aten.any.dims"},        {"aten.any.dim", "aten.any.dims"},
      {"aten.all.default", "aten.all.dims"},        {"aten.all.dim", "aten.all.dims"},
  };
  if (class_of(r.source(), node) == OpClass::kExtern) return false;
  const ValueId self = r.tensor(node, "self");
  const std::vector<Arg> mapped = r.mapped(node.args);
  const RuleArgs args = args_of(r, mapped);
  const std::vector<std::int64_t> dims = wrap_dims(args.integers("dim"), r.type(self).sizes.size());
  const auto name = kNames.find(node.op);
  std::vector<Arg> canonical = {
      {"self", self}, {"dim", r.constants(dims)}, {"keepdim", args.boolean("keepdim", false)}};
  if (const ArgValue* dtype = args.find("dtype")) canonical.push_back({"dtype", *dtype});
  r.replace(node, r.add_like(node, std::string(name == kNames.end() ? node.op : name->second),
                             std::move(canonical)));
  return true;
}

/// prod has no overload over several dims: the whole product runs over a flat view.
bool write_product(Rewriter& r, const Node& node) {
  ValueId self = r.tensor(node, "self");
  const std::vector<Arg> mapped = r.mapped(node.args);
  const RuleArgs args = args_of(r, mapped);
  std::int64_t dim = 0;
  bool keep = false;
  if (node.op == "aten.prod.default") {
    self = r.view(self, {element_count(r.syms(), r.type(self).sizes)});
  } else {
    dim = dim_of(r, node, "dim", r.type(self).sizes.size(), 0);
    keep = args.boolean("keepdim", false);
    if (r.type(self).sizes.empty()) self = r.view(self, {r.syms().constant(1)});
  }
  std::vector<Arg> canonical = {{"self", self}, {"dim", r.syms().constant(dim)}, {"keepdim", keep}};
  if (const ArgValue* dtype = args.find("dtype")) canonical.push_back({"dtype", *dtype});
  r.replace(node, r.view(r.add("aten.prod.dim_int", std::move(canonical), node.name),
                         declared(r, node).sizes));
  return true;
}

bool write_softmax(Rewriter& r, const Node& node) {
  const ValueId self = r.tensor(node, "self");
  const std::int64_t dim = dim_of(r, node, "dim", r.type(self).sizes.size(), -1);
  const bool is_log = node.op.find("log_softmax") != std::string::npos;
  std::vector<Arg> args = {{"self", self}, {"dim", r.syms().constant(dim)}};
  if (declared(r, node).dtype != r.type(self).dtype) {
    args.push_back({"dtype", declared(r, node).dtype});
  }
  r.replace(node, r.add_like(node, is_log ? "aten.log_softmax.int" : "aten.softmax.int",
                             std::move(args)));
  return true;
}

Rewrite find_rewrite(std::string_view op) {
  static const std::unordered_map<std::string_view, Rewrite> kTable = {
      {"aten.alias.default", drop},
      {"aten.detach.default", drop},
      {"aten.contiguous.default", drop},
      {"aten.clone.default", drop},
      {"aten.lift_fresh_copy.default", drop},
      {"aten.dropout.default", drop_dropout},
      {"aten._to_copy.default", write_conversion},
      {"aten.to.dtype", write_conversion},
      {"aten.to.dtype_layout", write_conversion},
      {"aten.to.device", write_conversion},
      {"aten.type_as.default", write_conversion},
      {"aten.copy.default", write_copy},
      {"aten.view.default", write_view},
      {"aten.reshape.default", write_view},
      {"aten._unsafe_view.default", write_view},
      {"aten.flatten.using_ints", write_view},
      {"aten.unflatten.int", write_view},
      {"aten.unsqueeze.default", write_view},
      {"aten.squeeze.default", write_view},
      {"aten.squeeze.dim", write_view},
      {"aten.squeeze.dims", write_view},
      {"aten.permute.default", write_permute},
      {"aten.transpose.int", write_permute},
      {"aten.t.default", write_permute},
      {"aten.expand.default", write_expand},
      {"aten.expand_as.default", write_expand},
      {"aten.slice.Tensor", write_slice},
      {"aten.narrow.default", write_slice},
      {"aten.select.int", write_select},
      {"aten.split.Tensor", write_parts},
      {"aten.split.sizes", write_parts},
      {"aten.split_with_sizes.default", write_parts},
      {"aten.chunk.default", write_parts},
      {"aten.unbind.int", write_parts},
      {"aten.cat.default", write_cat},
      {"aten.stack.default", write_cat},
      {"aten.full.default", write_full},
      {"aten.zeros.default", write_full},
      {"aten.ones.default", write_full},
      {"aten.scalar_tensor.default", write_full},
      {"aten.new_full.default", write_full},
      {"aten.new_zeros.default", write_full},
      {"aten.new_ones.default", write_full},
      {"aten.full_like.default", write_full},
      {"aten.zeros_like.default", write_full},
      {"aten.ones_like.default", write_full},
      {"aten.arange.default", write_arange},
      {"aten.arange.start", write_arange},
      {"aten.arange.start_step", write_arange},
      {"aten.div.Tensor_mode", write_division},
      {"aten.div.Scalar_mode", write_division},
      {"aten.square.default", write_square},
      {"aten.bitwise_not.default", write_bool_not},
      {"aten.__and__.Tensor", write_bitwise},
      {"aten.__and__.Scalar", write_bitwise},
      {"aten.__or__.Tensor", write_bitwise},
      {"aten.__or__.Scalar", write_bitwise},
      {"aten.__xor__.Tensor", write_bitwise},
      {"aten.__xor__.Scalar", write_bitwise},
      {"aten.sum.default", write_reduction},
      {"aten.sum.dim_IntList", write_reduction},
      {"aten.mean.default", write_reduction},
      {"aten.mean.dim", write_reduction},
      {"aten.max.default", write_reduction},
      {"aten.min.default", write_reduction},
      {"aten.amax.default", write_reduction},
      {"aten.amin.default", write_reduction},
      {"aten.any.default", write_reduction},
      {"aten.any.dim", write_reduction},
      {"aten.any.dims", write_reduction},
      {"aten.all.default", write_reduction},
      {"aten.all.dim", write_reduction},
      {"aten.all.dims", write_reduction},
      {"aten.prod.default", write_product},
      {"aten.prod.dim_int", write_product},
      {"aten.softmax.int", write_softmax},
      {"aten._softmax.default", write_softmax},
      {"aten.log_softmax.int", write_softmax},
      {"aten._log_softmax.default", write_softmax},
  };
  const auto place = kTable.find(op);
  return place == kTable.end() ? nullptr : place->second;
}

}  // namespace

Graph canonicalize(const Graph& graph) {
  return Rewriter(graph).run([](Rewriter& r, const Node& node) {
    const Rewrite rewrite = find_rewrite(node.op);
    return rewrite != nullptr && rewrite(r, node);
  });
}

}  // namespace breakeven
