#include <utility>

#include "compiler/ir/type_rules.h"

namespace breakeven {
namespace {

using Types = std::vector<TensorType>;

void require_same_dtype(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype) {
    refuse("operands of " + std::string(name_of(a.dtype)) + " and " +
           std::string(name_of(b.dtype)));
  }
}

void require_rank(const TensorType& type, std::size_t rank, std::string_view what) {
  if (type.sizes.size() != rank) {
    refuse(std::string(what) + " has rank " + std::to_string(type.sizes.size()) + ", not " +
           std::to_string(rank));
  }
}

Types linear_rule(const RuleArgs& args) {
  TensorType input = args.tensor("input");
  const TensorType& weight = args.tensor("weight");
  require_rank(weight, 2, "the weight");
  require_same_dtype(input, weight);
  if (input.sizes.empty()) refuse("linear of a scalar");
  require_equal(args.syms(), input.sizes.back(), weight.sizes[1], "linear");
  if (const TensorType* bias = args.optional_tensor("bias")) {
    require_rank(*bias, 1, "the bias");
    require_equal(args.syms(), bias->sizes[0], weight.sizes[0], "bias");
  }
  input.sizes.back() = weight.sizes[0];
  return {input};
}

Types mm_of(const RuleArgs& args, const TensorType& a, const TensorType& b, std::size_t rank) {
  require_rank(a, rank, "a factor");
  require_rank(b, rank, "a factor");
  require_same_dtype(a, b);
  require_equal(args.syms(), a.sizes[rank - 1], b.sizes[rank - 2], "inner sizes");
  if (rank == 3) require_equal(args.syms(), a.sizes[0], b.sizes[0], "batch sizes");
  TensorType result = a;
  result.sizes[rank - 1] = b.sizes[rank - 1];
  return {result};
}

Types mm_rule(const RuleArgs& args) {
  return mm_of(args, args.tensor("self"), args.tensor("mat2"), 2);
}

Types bmm_rule(const RuleArgs& args) {
  return mm_of(args, args.tensor("self"), args.tensor("mat2"), 3);
}

Types addmm_rule(const RuleArgs& args) {
  Types result = mm_of(args, args.tensor("mat1"), args.tensor("mat2"), 2);
  const std::vector<Sym> joint =
      broadcast(args.syms(), result.front().sizes, args.tensor("self").sizes);
  if (joint.size() != 2) refuse("addmm adds a tensor of rank above 2");
  return result;
}

Types baddbmm_rule(const RuleArgs& args) {
  Types result = mm_of(args, args.tensor("batch1"), args.tensor("batch2"), 3);
  broadcast(args.syms(), result.front().sizes, args.tensor("self").sizes);
  return result;
}

Types matmul_rule(const RuleArgs& args) {
  TensorType a = args.tensor("self");
  TensorType b = args.tensor("other");
  require_same_dtype(a, b);
  if (a.sizes.empty() || b.sizes.empty()) refuse("matmul of a scalar");
  const bool is_row = a.sizes.size() == 1;
  const bool is_column = b.sizes.size() == 1;
  if (is_row) a.sizes.insert(a.sizes.begin(), args.syms().constant(1));
  if (is_column) b.sizes.push_back(args.syms().constant(1));
  require_equal(args.syms(), a.sizes.back(), b.sizes[b.sizes.size() - 2], "inner sizes");
  const std::vector<Sym> batch_a(a.sizes.begin(), a.sizes.end() - 2);
  const std::vector<Sym> batch_b(b.sizes.begin(), b.sizes.end() - 2);
  TensorType result{a.dtype, broadcast(args.syms(), batch_a, batch_b)};
  if (!is_row) result.sizes.push_back(a.sizes[a.sizes.size() - 2]);
  if (!is_column) result.sizes.push_back(b.sizes.back());
  return {result};
}

/// Item i of a list argument that may hold one item for all dims.
Sym spread(const RuleArgs& args, std::string_view name, std::size_t i, std::int64_t missing) {
  const std::vector<Sym> list = args.syms_of(name);
  if (list.empty()) return args.syms().constant(missing);
  if (list.size() == 1) return list[0];
  if (i >= list.size()) refuse(std::string(name) + " has too few items");
  return list[i];
}

/// floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
Sym window_count(SymContext& syms, Sym size, Sym kernel, Sym stride, Sym padding, Sym dilation) {
  const Sym one = syms.constant(1);
  const Sym reach = syms.mul(dilation, syms.sub(kernel, one));
  Sym span = syms.add(size, syms.mul(padding, syms.constant(2)));
  span = syms.sub(syms.sub(span, reach), one);
  if (syms.range(span).hi < 0) refuse("the kernel is larger than the padded input");
  if (syms.range(stride).lo < 1) refuse("a stride below 1");
  return syms.add(syms.floor_div(span, stride), one);
}

Types convolution_of(const RuleArgs& args, std::size_t spatial) {
  const TensorType& input = args.tensor("input");
  const TensorType& weight = args.tensor("weight");
  require_same_dtype(input, weight);
  require_rank(input, spatial + 2, "the input");
  require_rank(weight, spatial + 2, "the weight");
  SymContext& syms = args.syms();
  const Sym groups = syms.constant(args.integer("groups", 1));
  require_equal(syms, input.sizes[1], syms.mul(weight.sizes[1], groups), "channels");
  TensorType result{input.dtype, {input.sizes[0], weight.sizes[0]}};
  for (std::size_t i = 0; i < spatial; ++i) {
    result.sizes.push_back(window_count(syms, input.sizes[i + 2], weight.sizes[i + 2],
                                        spread(args, "stride", i, 1), spread(args, "padding", i, 0),
                                        spread(args, "dilation", i, 1)));
  }
  return {result};
}

Types conv1d_rule(const RuleArgs& args) { return convolution_of(args, 1); }
Types conv2d_rule(const RuleArgs& args) { return convolution_of(args, 2); }

Types convolution_rule(const RuleArgs& args) {
  const std::size_t rank = args.tensor("input").sizes.size();
  if (rank < 3) refuse("convolution of a tensor of rank " + std::to_string(rank));
  if (args.boolean("transposed", false)) refuse_undecidable("transposed convolution");
  return convolution_of(args, rank - 2);
}

Types attention_rule(const RuleArgs& args) {
  const TensorType& query = args.tensor("query");
  const TensorType& key = args.tensor("key");
  const TensorType& value = args.tensor("value");
  require_same_dtype(query, key);
  require_same_dtype(query, value);
  const std::size_t rank = query.sizes.size();
  if (rank < 2 || key.sizes.size() != rank || value.sizes.size() != rank) {
    refuse("query, key and value of different or too low rank");
  }
  SymContext& syms = args.syms();
  require_equal(syms, query.sizes[rank - 1], key.sizes[rank - 1], "query and key");
  require_equal(syms, key.sizes[rank - 2], value.sizes[rank - 2], "key and value");
  if (const TensorType* mask = args.optional_tensor("attn_mask")) {
    if (mask->dtype != DType::kBool) require_same_dtype(query, *mask);
  }
  TensorType result = query;
  result.sizes[rank - 1] = value.sizes[rank - 1];
  return {result};
}

Types pool_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  if (self.sizes.size() != 3 && self.sizes.size() != 4) refuse("pooling needs 3 or 4 dims");
  if (args.boolean("ceil_mode", false)) refuse_undecidable("pooling with ceil_mode");
  const std::size_t first = self.sizes.size() - 2;
  const bool has_stride = !args.syms_of("stride").empty();
  for (std::size_t i = 0; i < 2; ++i) {
    self.sizes[first + i] =
        window_count(args.syms(), self.sizes[first + i], spread(args, "kernel_size", i, 1),
                     spread(args, has_stride ? "stride" : "kernel_size", i, 1),
                     spread(args, "padding", i, 0), spread(args, "dilation", i, 1));
  }
  return {self};
}

Types adaptive_pool_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  if (self.sizes.size() != 3 && self.sizes.size() != 4) refuse("pooling needs 3 or 4 dims");
  for (std::size_t i = 0; i < 2; ++i) {
    self.sizes[self.sizes.size() - 2 + i] = spread(args, "output_size", i, 1);
  }
  return {self};
}

/// Indexing by integer tensors: they broadcast; their dims stand where the indexed dims stood when
/// those are neighbours, else in front.
Types index_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  const ArgValue* value = args.find("indices");
  const auto* ids = value == nullptr ? nullptr : std::get_if<std::vector<ValueId>>(value);
  if (ids == nullptr || ids->size() > self.sizes.size()) refuse("indices do not fit the tensor");
  std::vector<Sym> joint;
  std::vector<Sym> before;
  std::vector<Sym> after;
  bool seen = false;
  bool gap = false;
  bool is_split = false;
  for (std::size_t i = 0; i < self.sizes.size(); ++i) {
    const ValueId id = i < ids->size() ? (*ids)[i] : ValueId{};
    if (id.valid()) {
      const TensorType& index = args.graph().type(id);
      if (!is_integral(index.dtype)) refuse_undecidable("indexing by a mask");
      joint = broadcast(args.syms(), joint, index.sizes);
      is_split = is_split || gap;
      seen = true;
    } else {
      (seen ? after : before).push_back(self.sizes[i]);
      gap = gap || seen;
    }
  }
  if (!seen) refuse("index without an index tensor");
  std::vector<Sym> sizes;
  const auto append = [&](const std::vector<Sym>& part) {
    sizes.insert(sizes.end(), part.begin(), part.end());
  };
  if (!is_split) append(before);
  append(joint);
  if (is_split) append(before);
  append(after);
  return {{self.dtype, std::move(sizes)}};
}

Types cumsum_rule(const RuleArgs& args) {
  TensorType self = args.tensor("self");
  wrap_dim(args.integer("dim"), self.sizes.size());
  const DType missing = is_floating(self.dtype) ? self.dtype : DType::kI64;
  self.dtype = args.dtype("dtype").value_or(missing);
  return {self};
}

Types flip_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  wrap_dims(args.integers("dims"), self.sizes.size());
  return {self};
}

Types triangle_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  if (self.sizes.size() < 2) refuse("a triangle of a tensor with fewer than 2 dims");
  return {self};
}

Types gather_rule(const RuleArgs& args) {
  const TensorType& self = args.tensor("self");
  const TensorType& index = args.tensor("index");
  wrap_dim(args.integer("dim"), self.sizes.size());
  if (index.dtype != DType::kI64) refuse("indices of " + std::string(name_of(index.dtype)));
  if (index.sizes.size() != self.sizes.size()) refuse("index of another rank");
  return {{self.dtype, index.sizes}};
}

OpRow library(std::string_view name, TypeRule type_rule, std::vector<std::string_view> operands) {
  OpRow row{name, OpClass::kExtern, type_rule, std::move(operands)};
  row.tolerance_ulp = 32;
  return row;
}

}  // namespace

std::vector<OpRow> library_rows() {
  return {
      library("aten.linear.default", rule<linear_rule>, {"input", "weight", "bias"}),
      library("aten.mm.default", rule<mm_rule>, {"self", "mat2"}),
      library("aten.bmm.default", rule<bmm_rule>, {"self", "mat2"}),
      library("aten.addmm.default", rule<addmm_rule>, {"self", "mat1", "mat2"}),
      library("aten.baddbmm.default", rule<baddbmm_rule>, {"self", "batch1", "batch2"}),
      library("aten.matmul.default", rule<matmul_rule>, {"self", "other"}),
      library("aten.conv1d.default", rule<conv1d_rule>, {"input", "weight", "bias"}),
      library("aten.conv2d.default", rule<conv2d_rule>, {"input", "weight", "bias"}),
      library("aten.convolution.default", rule<convolution_rule>, {"input", "weight", "bias"}),
      library("aten.scaled_dot_product_attention.default", rule<attention_rule>,
              {"query", "key", "value", "attn_mask"}),
      library("aten.max_pool2d.default", rule<pool_rule>, {"self"}),
      library("aten.avg_pool2d.default", rule<pool_rule>, {"self"}),
      library("aten.adaptive_avg_pool2d.default", rule<adaptive_pool_rule>, {"self"}),
      library("aten.index.Tensor", rule<index_rule>, {"self", "indices"}),
      library("aten.cumsum.default", rule<cumsum_rule>, {"self"}),
      library("aten.flip.default", rule<flip_rule>, {"self"}),
      library("aten.tril.default", rule<triangle_rule>, {"self"}),
      library("aten.triu.default", rule<triangle_rule>, {"self"}),
      library("aten.gather.default", rule<gather_rule>, {"self", "index"}),
  };
}

}  // namespace breakeven
