#include "tests/ops/op_cases.h"

#include <utility>

#include "compiler/ir/numeric.h"
#include "compiler/ir/op_table.h"

namespace breakeven {
namespace {

using Role = CaseInput::Role;

CaseInput swept(std::vector<std::int64_t> sizes) { return {Role::kSwept, std::move(sizes)}; }
CaseInput mask(std::vector<std::int64_t> sizes) { return {Role::kMask, std::move(sizes)}; }
CaseInput index(std::vector<std::int64_t> sizes) { return {Role::kIndex, std::move(sizes)}; }
CaseInput positive(std::vector<std::int64_t> sizes) { return {Role::kPositive, std::move(sizes)}; }

void add_pointwise(std::vector<OpCase>& cases) {
  for (const char* name : {"add", "sub", "rsub"}) {
    const std::string op = std::string("aten.") + name;
    cases.push_back({op + ".Tensor", "self=%a, other=%b", {swept({2, -1}), swept({-1})}});
    cases.push_back({op + ".Tensor", "self=%a, other=%b, alpha=2", {swept({-1}), swept({})}});
    cases.push_back({op + ".Scalar", "self=%a, other=3, alpha=2", {swept({-1})}});
    cases.push_back({op + ".Scalar", "self=%a, other=0.5", {swept({-1, 2})}});
  }
  for (const char* name : {"mul.Tensor", "div.Tensor", "minimum.default", "maximum.default",
                           "logical_and.default", "logical_or.default", "logical_xor.default"}) {
    cases.push_back(
        {std::string("aten.") + name, "self=%a, other=%b", {swept({3, 1, -1}), swept({2, 1})}});
    cases.push_back({std::string("aten.") + name, "self=%a, other=%b", {swept({-1}), mask({-1})}});
  }
  for (const char* name : {"floor_divide.default", "remainder.Tensor", "fmod.Tensor"}) {
    cases.push_back(
        {std::string("aten.") + name, "self=%a, other=%b", {swept({2, -1}), positive({-1})}});
  }
  for (const char* name : {"mul", "div", "floor_divide", "remainder", "fmod"}) {
    const std::string op = "aten." + std::string(name) + ".Scalar";
    cases.push_back({op, "self=%a, other=3", {swept({-1})}});
    cases.push_back({op, "self=%a, other=-1.7", {swept({2, -1})}});
  }
  for (const char* name : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    const std::string op = std::string("aten.") + name;
    cases.push_back({op + ".Tensor", "self=%a, other=%b", {swept({2, -1}), swept({-1})}});
    cases.push_back({op + ".Scalar", "self=%a, other=1", {swept({-1})}});
    cases.push_back({op + ".Scalar", "self=%a, other=0.5", {swept({-1})}});
  }
  for (const char* name :
       {"bitwise_and", "bitwise_or", "bitwise_xor", "__and__", "__or__", "__xor__"}) {
    const std::string op = std::string("aten.") + name;
    cases.push_back({op + ".Tensor", "self=%a, other=%b", {swept({2, -1}), swept({-1})}});
    cases.push_back({op + ".Scalar", "self=%a, other=6", {swept({-1})}});
  }
  cases.push_back(
      {"aten.pow.Tensor_Tensor", "self=%a, exponent=%b", {positive({2, -1}), positive({-1})}});
  for (const char* exponent : {"2", "3", "1", "0.5", "-0.5", "-1.0", "2.5", "5"}) {
    cases.push_back(
        {"aten.pow.Tensor_Scalar", std::string("self=%a, exponent=") + exponent, {positive({-1})}});
  }
  cases.push_back({"aten.pow.Scalar", "self=1.5, exponent=%a", {swept({-1})}});
  for (const char* name :
       {"neg",      "abs",         "sign",        "relu",      "floor",       "ceil",  "round",
        "trunc",    "exp",         "expm1",       "sin",       "cos",         "tanh",  "erf",
        "sigmoid",  "silu",        "hardsigmoid", "hardswish", "logical_not", "isnan", "isinf",
        "isfinite", "bitwise_not", "square",      "relu6",     "mish"}) {
    cases.push_back({"aten." + std::string(name) + ".default", "self=%a", {swept({3, -1})}});
  }
  for (const char* name : {"log", "log1p", "sqrt", "rsqrt", "reciprocal"}) {
    cases.push_back({"aten." + std::string(name) + ".default", "self=%a", {positive({3, -1})}});
  }
}

void add_selection(std::vector<OpCase>& cases) {
  cases.push_back({"aten.where.self",
                   "condition=%a, self=%b, other=%c",
                   {mask({2, -1}), swept({-1}), swept({})}});
  cases.push_back(
      {"aten.where.ScalarSelf", "condition=%a, self=0.5, other=%b", {mask({-1}), swept({-1})}});
  cases.push_back(
      {"aten.where.ScalarOther", "condition=%a, self=%b, other=2", {mask({-1}), swept({2, -1})}});
  cases.push_back({"aten.where.Scalar", "condition=%a, self=1, other=-inf", {mask({-1})}});
  for (const char* bound : {"clamp_min", "clamp_max"}) {
    const std::string name = bound;
    const std::string arg = name == "clamp_min" ? "min" : "max";
    cases.push_back({"aten." + name + ".default", "self=%a, " + arg + "=1", {swept({-1})}});
    cases.push_back(
        {"aten." + name + ".Tensor", "self=%a, " + arg + "=%b", {swept({2, -1}), swept({-1})}});
  }
  for (const char* bounds :
       {"min=-1, max=1", "min=none, max=0.5", "min=1", "min=-0.5, max=inf", "min=2, max=1"}) {
    cases.push_back({"aten.clamp.default", std::string("self=%a, ") + bounds, {swept({-1})}});
  }
  cases.push_back(
      {"aten.clamp.Tensor", "self=%a, min=%b, max=%c", {swept({2, -1}), swept({-1}), swept({})}});
  cases.push_back({"aten.hardtanh.default", "self=%a", {swept({-1})}});
  cases.push_back({"aten.hardtanh.default", "self=%a, min_val=-0.5, max_val=2", {swept({-1})}});
  cases.push_back({"aten.gelu.default", "self=%a", {swept({-1})}});
  cases.push_back({"aten.gelu.default", "self=%a, approximate=\"tanh\"", {swept({-1})}});
  cases.push_back({"aten.leaky_relu.default", "self=%a", {swept({-1})}});
  cases.push_back({"aten.leaky_relu.default", "self=%a, negative_slope=0.2", {swept({-1})}});
  cases.push_back({"aten.elu.default", "self=%a", {swept({-1})}});
  cases.push_back(
      {"aten.elu.default", "self=%a, alpha=1.5, scale=2, input_scale=0.5", {swept({-1})}});
  cases.push_back({"aten.softplus.default", "self=%a", {swept({-1})}});
  cases.push_back({"aten.softplus.default", "self=%a, beta=2, threshold=1", {swept({-1})}});
  for (const char* mode : {"", ", rounding_mode=\"floor\"", ", rounding_mode=\"trunc\""}) {
    cases.push_back({"aten.div.Tensor_mode",
                     std::string("self=%a, other=%b") + mode,
                     {swept({2, -1}), positive({-1})}});
    cases.push_back(
        {"aten.div.Scalar_mode", std::string("self=%a, other=2") + mode, {swept({-1})}});
  }
  cases.push_back(
      {"aten.masked_fill.Scalar", "self=%a, mask=%b, value=-2.0", {swept({2, -1}), mask({-1})}});
  cases.push_back({"aten.masked_fill.Tensor",
                   "self=%a, mask=%b, value=%c",
                   {swept({2, -1}), mask({-1}), swept({})}});
  cases.push_back({"aten.addcmul.default",
                   "self=%a, tensor1=%b, tensor2=%c, value=0.5",
                   {swept({2, -1}), swept({-1}), swept({2, 1})}});
  cases.push_back({"aten.addcdiv.default",
                   "self=%a, tensor1=%b, tensor2=%c",
                   {swept({2, -1}), swept({-1}), positive({2, 1})}});
  cases.push_back({"aten.lerp.Scalar", "self=%a, end=%b, weight=0.25", {swept({-1}), swept({-1})}});
}

void add_conversions(std::vector<OpCase>& cases) {
  for (const char* dtype : {"f32", "bf16", "i64", "u8", "bool"}) {
    cases.push_back(
        {"aten._to_copy.default", std::string("self=%a, dtype=") + dtype, {swept({2, -1})}});
    cases.push_back({"aten.to.dtype", std::string("self=%a, dtype=") + dtype, {swept({-1})}});
  }
  cases.push_back({"aten.to.dtype_layout", "self=%a, dtype=f64, layout=none", {swept({-1})}});
  cases.push_back({"aten.to.device", "self=%a, device=\"cpu\", dtype=f32", {swept({-1})}});
  cases.push_back({"aten.type_as.default", "self=%a, other=%b", {swept({-1}), mask({2})}});
  cases.push_back({"aten.copy.default", "self=%a, src=%b", {swept({2, -1}), mask({-1})}});
  for (const char* name : {"alias", "detach", "contiguous", "clone", "lift_fresh_copy"}) {
    cases.push_back({"aten." + std::string(name) + ".default", "self=%a", {swept({2, -1})}});
  }
  cases.push_back({"aten.dropout.default", "input=%a, p=0.1, train=false", {swept({-1})}});
}

void add_reductions(std::vector<OpCase>& cases) {
  for (const char* name :
       {"sum.dim_IntList", "mean.dim", "amax.default", "amin.default", "any.dims", "all.dims",
        "logsumexp.default", "var.correction", "std.correction", "var_mean.correction"}) {
    const std::string op = "aten." + std::string(name);
    cases.push_back({op, "self=%a, dim=[-1]", {swept({3, -1})}});
    cases.push_back({op, "self=%a, dim=[0, 2], keepdim=true", {swept({2, -1, 5})}});
    cases.push_back({op, "self=%a, dim=[1]", {swept({2, 4, -1})}});
  }
  for (const char* name : {"var.dim", "std.dim"}) {
    cases.push_back({"aten." + std::string(name),
                     "self=%a, dim=[1], unbiased=false, keepdim=true",
                     {swept({2, -1})}});
  }
  cases.push_back({"aten.var.correction", "self=%a, dim=none, correction=0", {swept({2, -1})}});
  cases.push_back({"aten.sum.dim_IntList", "self=%a, dim=[1], dtype=f64", {swept({2, -1})}});
  cases.push_back({"aten.sum.dim_IntList", "self=%a, dim=[]", {swept({2, -1})}});
  for (const char* name : {"sum", "mean", "prod", "max", "min", "any", "all", "argmax", "argmin"}) {
    cases.push_back({"aten." + std::string(name) + ".default", "self=%a", {swept({2, -1})}});
    cases.push_back({"aten." + std::string(name) + ".default", "self=%a", {swept({})}});
  }
  for (const char* name :
       {"prod.dim_int", "any.dim", "all.dim", "argmax.default", "argmin.default"}) {
    cases.push_back(
        {"aten." + std::string(name), "self=%a, dim=-1, keepdim=true", {swept({3, -1})}});
  }
  cases.push_back({"aten.cumsum.default", "self=%a, dim=1", {swept({2, -1})}});
}

void add_views(std::vector<OpCase>& cases) {
  cases.push_back({"aten.view.default", "self=%a, size=[-1, 2]", {swept({4, -1})}});
  cases.push_back({"aten.reshape.default", "self=%a, shape=[2, 2, -1]", {swept({4, -1})}});
  cases.push_back({"aten._unsafe_view.default", "self=%a, size=[-1]", {swept({4, -1})}});
  cases.push_back({"aten.flatten.using_ints", "self=%a, start_dim=1", {swept({2, -1, 3})}});
  cases.push_back({"aten.flatten.using_ints", "self=%a", {swept({})}});
  cases.push_back({"aten.unflatten.int", "self=%a, dim=-1, sizes=[2, -1]", {swept({-1, 6})}});
  cases.push_back({"aten.permute.default", "self=%a, dims=[2, 0, -2]", {swept({2, -1, 3})}});
  cases.push_back({"aten.transpose.int", "self=%a, dim0=0, dim1=-1", {swept({2, -1, 3})}});
  cases.push_back({"aten.t.default", "self=%a", {swept({2, -1})}});
  cases.push_back({"aten.unsqueeze.default", "self=%a, dim=-1", {swept({2, -1})}});
  cases.push_back({"aten.squeeze.default", "self=%a", {swept({1, 3, 1})}});
  cases.push_back({"aten.squeeze.dim", "self=%a, dim=0", {swept({1, -1, 1})}});
  cases.push_back({"aten.squeeze.dims", "self=%a, dim=[0, 2]", {swept({1, -1, 1})}});
  cases.push_back({"aten.expand.default", "self=%a, size=[2, -1, 4]", {swept({-1, 1})}});
  cases.push_back({"aten.expand_as.default", "self=%a, other=%b", {swept({-1}), swept({3, -1})}});
  cases.push_back({"aten.slice.Tensor", "self=%a, dim=1, start=1, end=-1", {swept({2, 5, -1})}});
  cases.push_back({"aten.slice.Tensor", "self=%a, dim=-1, start=-4, step=3", {swept({-1, 7})}});
  cases.push_back({"aten.slice.Tensor", "self=%a, dim=0, start=none, end=2", {swept({-1, 2})}});
  cases.push_back({"aten.narrow.default", "self=%a, dim=0, start=1, length=2", {swept({4, -1})}});
  cases.push_back({"aten.select.int", "self=%a, dim=1, index=-2", {swept({2, 3, -1})}});
  cases.push_back({"aten.split.Tensor", "self=%a, split_size=2, dim=1", {swept({-1, 5})}});
  cases.push_back({"aten.split.sizes", "self=%a, split_size=[1, 3], dim=0", {swept({4, -1})}});
  cases.push_back(
      {"aten.split_with_sizes.default", "self=%a, split_sizes=[1, 3], dim=-1", {swept({-1, 4})}});
  cases.push_back({"aten.chunk.default", "self=%a, chunks=3, dim=0", {swept({7, -1})}});
  cases.push_back({"aten.unbind.int", "self=%a, dim=1", {swept({-1, 3})}});
  cases.push_back({"aten.flip.default", "self=%a, dims=[0, -1]", {swept({3, -1})}});
}

void add_copies(std::vector<OpCase>& cases) {
  cases.push_back({"aten.embedding.default",
                   "weight=%a, indices=%b, padding_idx=0",
                   {swept({2, 3}), index({2, -1})}});
  cases.push_back(
      {"aten.index_select.default", "self=%a, dim=1, index=%b", {swept({2, 3, 2}), index({-1})}});
  cases.push_back(
      {"aten.gather.default", "self=%a, dim=0, index=%b", {swept({2, 3}), index({-1, 3})}});
  cases.push_back(
      {"aten.index.Tensor", "self=%a, indices=[none, %b]", {swept({3, 2, 2}), index({-1})}});
  cases.push_back({"aten.index.Tensor",
                   "self=%a, indices=[%b, none, %c]",
                   {swept({3, 2, 2}), index({-1}), index({2, -1})}});
  cases.push_back(
      {"aten.cat.default", "tensors=[%a, %b], dim=-1", {swept({2, -1}), swept({2, 3})}});
  cases.push_back(
      {"aten.cat.default", "tensors=[%a, %b, %c]", {swept({-1}), mask({4}), swept({0})}});
  cases.push_back(
      {"aten.stack.default", "tensors=[%a, %b], dim=1", {swept({2, -1}), swept({2, -1})}});
  cases.push_back({"aten.tril.default", "self=%a, diagonal=-1", {swept({3, -1})}});
  cases.push_back({"aten.triu.default", "self=%a", {swept({2, 3, -1})}});
}

void add_creations(std::vector<OpCase>& cases) {
  for (const char* value : {"2", "-0.5", "true", "nan", "inf", "1e-45"}) {
    cases.push_back({"aten.full.default", std::string("size=[2, 3], fill_value=") + value, {}});
  }
  cases.push_back({"aten.full.default", "size=[], fill_value=7, dtype=bf16", {}});
  cases.push_back({"aten.zeros.default", "size=[2, 0]", {}});
  cases.push_back({"aten.ones.default", "size=[3], dtype=i64", {}});
  cases.push_back({"aten.scalar_tensor.default", "s=2.5", {}});
  cases.push_back({"aten.new_full.default", "self=%a, size=[2], fill_value=3", {swept({-1})}});
  cases.push_back({"aten.new_zeros.default", "self=%a, size=[2]", {swept({-1})}});
  cases.push_back({"aten.new_ones.default", "self=%a, size=[2], dtype=bool", {swept({-1})}});
  cases.push_back({"aten.full_like.default", "self=%a, fill_value=2", {swept({2, -1})}});
  cases.push_back({"aten.zeros_like.default", "self=%a", {swept({2, -1})}});
  cases.push_back({"aten.ones_like.default", "self=%a, dtype=f64", {swept({2, -1})}});
  cases.push_back({"aten.arange.default", "end=5", {}});
  cases.push_back({"aten.arange.start", "start=2, end=5.5", {}});
  cases.push_back({"aten.arange.start_step", "start=7, end=0, step=-2", {}});
  cases.push_back({"aten.arange.start_step", "start=0.5, end=2, step=0.25, dtype=f64", {}});
}

void add_norms(std::vector<OpCase>& cases) {
  for (const char* name : {"softmax.int", "log_softmax.int"}) {
    cases.push_back({"aten." + std::string(name), "self=%a, dim=-1", {swept({2, -1})}});
    cases.push_back({"aten." + std::string(name), "self=%a, dim=0, dtype=f32", {swept({3, -1})}});
  }
  for (const char* name : {"_softmax.default", "_log_softmax.default"}) {
    cases.push_back(
        {"aten." + std::string(name), "self=%a, dim=1, half_to_float=false", {swept({2, 4, -1})}});
  }
  const std::vector<CaseInput> affine = {swept({-1, 2, 3}), swept({3}), swept({3})};
  const std::vector<CaseInput> channels = {swept({2, 4, -1}), swept({4}), swept({4})};
  cases.push_back(
      {"aten.layer_norm.default", "input=%a, normalized_shape=[3], weight=%b, bias=%c", affine});
  cases.push_back({"aten.layer_norm.default",
                   "input=%a, normalized_shape=[2, 3], eps=0.001",
                   {swept({-1, 2, 3})}});
  cases.push_back({"aten.native_layer_norm.default",
                   "input=%a, normalized_shape=[3], weight=%b, bias=%c, eps=1e-12", affine});
  cases.push_back({"aten.rms_norm.default",
                   "input=%a, normalized_shape=[3], weight=%b",
                   {swept({-1, 2, 3}), swept({3})}});
  cases.push_back({"aten.rms_norm.default",
                   "input=%a, normalized_shape=[2, 3], eps=0.01",
                   {swept({-1, 2, 3})}});
  cases.push_back(
      {"aten.group_norm.default", "input=%a, num_groups=2, weight=%b, bias=%c", channels});
  const std::vector<CaseInput> batch = {swept({2, 4, -1}), swept({4}), swept({4}), swept({4}),
                                        positive({4})};
  cases.push_back({"aten.batch_norm.default",
                   "input=%a, weight=%b, bias=%c, running_mean=%d, running_var=%e, "
                   "training=false, momentum=0.1, eps=1e-5, cudnn_enabled=true",
                   batch});
  cases.push_back({"aten._native_batch_norm_legit_no_training.default",
                   "input=%a, weight=%b, bias=%c, running_mean=%d, running_var=%e, momentum=0.1, "
                   "eps=1e-3",
                   batch});
  for (const char* reduction : {"0", "1", "2"}) {
    cases.push_back({"aten.mse_loss.default",
                     std::string("self=%a, target=%b, reduction=") + reduction,
                     {swept({2, -1}), swept({2, -1})}});
  }
}

void add_library(std::vector<OpCase>& cases) {
  cases.push_back({"aten.linear.default",
                   "input=%a, weight=%b, bias=%c",
                   {swept({2, -1, 3}), swept({4, 3}), swept({4})}});
  cases.push_back({"aten.linear.default", "input=%a, weight=%b", {swept({3}), swept({4, 3})}});
  cases.push_back({"aten.mm.default", "self=%a, mat2=%b", {swept({2, -1}), swept({-1, 3})}});
  cases.push_back({"aten.bmm.default", "self=%a, mat2=%b", {swept({2, 3, -1}), swept({2, -1, 4})}});
  cases.push_back({"aten.addmm.default",
                   "self=%a, mat1=%b, mat2=%c, beta=0.5, alpha=2",
                   {swept({3}), swept({2, -1}), swept({-1, 3})}});
  cases.push_back({"aten.baddbmm.default",
                   "self=%a, batch1=%b, batch2=%c",
                   {swept({2, 1, 3}), swept({2, 4, -1}), swept({2, -1, 3})}});
  cases.push_back({"aten.matmul.default", "self=%a, other=%b", {swept({-1}), swept({-1})}});
  cases.push_back({"aten.matmul.default", "self=%a, other=%b", {swept({-1}), swept({2, -1, 3})}});
  cases.push_back(
      {"aten.matmul.default", "self=%a, other=%b", {swept({2, 1, 3, -1}), swept({4, -1, 2})}});
  cases.push_back({"aten.conv1d.default",
                   "input=%a, weight=%b, stride=[2], padding=[1]",
                   {swept({-1, 2, 9}), swept({4, 2, 3})}});
  cases.push_back({"aten.conv2d.default",
                   "input=%a, weight=%b, bias=%c, padding=[1, 0], groups=2",
                   {swept({-1, 4, 5, 6}), swept({6, 2, 3, 2}), swept({6})}});
  cases.push_back({"aten.convolution.default",
                   "input=%a, weight=%b, bias=none, stride=[2, 1], padding=[0, 1], "
                   "dilation=[1, 2], transposed=false, output_padding=[0, 0], groups=1",
                   {swept({-1, 2, 7, 6}), swept({3, 2, 3, 2})}});
  cases.push_back(
      {"aten.scaled_dot_product_attention.default",
       "query=%a, key=%b, value=%c, attn_mask=%d",
       {swept({2, 2, -1, 4}), swept({2, 2, 3, 4}), swept({2, 2, 3, 5}), swept({2, 1, -1, 3})}});
  cases.push_back({"aten.scaled_dot_product_attention.default",
                   "query=%a, key=%b, value=%c, is_causal=true, scale=0.3",
                   {swept({2, -1, 4}), swept({2, -1, 4}), swept({2, -1, 4})}});
  cases.push_back({"aten.max_pool2d.default",
                   "self=%a, kernel_size=[3, 3], stride=[2, 2], "
                   "padding=[1, 1]",
                   {swept({-1, 2, 7, 6})}});
  cases.push_back({"aten.avg_pool2d.default", "self=%a, kernel_size=[2]", {swept({-1, 2, 6, 4})}});
  cases.push_back(
      {"aten.adaptive_avg_pool2d.default", "self=%a, output_size=[2, 3]", {swept({-1, 2, 5, 7})}});
}

std::uint64_t random_word(std::uint64_t counter) {
  std::uint64_t z = (counter + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

DType dtype_of(const CaseInput& input, DType swept_dtype) {
  if (input.role == Role::kMask) return DType::kBool;
  if (input.role == Role::kIndex) return DType::kI64;
  return swept_dtype;
}

double element_of(const CaseInput& input, DType dtype, std::uint64_t word) {
  if (input.role == Role::kMask || input.role == Role::kIndex) return static_cast<double>(word % 2);
  const bool is_positive = input.role == Role::kPositive;
  if (dtype == DType::kBool) return is_positive ? 1 : static_cast<double>(word % 2);
  if (is_floating(dtype)) {
    // Multiples of 1/64 in [-2, 2): exact in every floating dtype, so that eager and reference see
    // the same values.
    const double x = static_cast<double>(word % 256) / 64 - 2;
    return is_positive ? (x < 0 ? -x : x) + 0.25 : x;
  }
  const auto whole = static_cast<double>(word % 6);
  return is_positive ? whole + 1 : dtype == DType::kU8 ? whole : whole - 3;
}

}  // namespace

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> kCases = [] {
    std::vector<OpCase> cases;
    add_pointwise(cases);
    add_selection(cases);
    add_conversions(cases);
    add_reductions(cases);
    add_views(cases);
    add_copies(cases);
    add_creations(cases);
    add_norms(cases);
    add_library(cases);
    return cases;
  }();
  return kCases;
}

Result<Graph> build_case(const OpCase& op_case, DType dtype, std::int64_t size, bool is_symbolic) {
  std::string text = "graph \"case\" {\n";
  if (is_symbolic) text += "  sym n in [1, 64] hint 2\n";
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    const CaseInput& input = op_case.inputs[i];
    const std::string name(1, static_cast<char>('a' + i));
    text += "  %" + name + " = input \"" + name + "\" : ";
    text += std::string(name_of(dtype_of(input, dtype))) + "[";
    for (std::size_t d = 0; d < input.sizes.size(); ++d) {
      text += d == 0 ? "" : ", ";
      text += input.sizes[d] >= 0 ? std::to_string(input.sizes[d])
              : is_symbolic       ? "n"
                                  : std::to_string(size);
    }
    text += "]\n";
  }
  // The arguments are read off an op that the table does not know, so that its type is free.
  text += "  %r = test.args.default(" + op_case.args + ") : f32[]\n  return %r\n}\n";
  const Graph parsed = parse_graph(text, op_case.op);
  Graph graph("case");
  graph.syms = parsed.syms;
  for (const ValueId input : parsed.inputs()) {
    graph.add_input(parsed.node_of(input).name, parsed.type(input));
  }
  Result<std::vector<ValueId>> outputs =
      add_checked(graph, op_case.op, parsed.nodes().back().args, "r");
  if (!outputs.ok()) return outputs.refusal();
  graph.set_outputs(outputs.value());
  return graph;
}

std::vector<HostTensor> make_case_inputs(const OpCase& op_case, DType dtype, std::int64_t size) {
  std::vector<HostTensor> inputs;
  std::uint64_t counter = 0;
  for (const CaseInput& input : op_case.inputs) {
    std::vector<std::int64_t> sizes = input.sizes;
    for (std::int64_t& s : sizes) s = s < 0 ? size : s;
    HostTensor tensor = HostTensor::empty(dtype_of(input, dtype), sizes);
    auto* bytes = tensor.as<unsigned char>();
    for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
      encode_element(tensor.dtype, element_of(input, tensor.dtype, random_word(counter++)),
                     bytes + i * size_of(tensor.dtype));
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::string describe(const OpCase& op_case, DType dtype, std::int64_t size) {
  return op_case.op + "(" + op_case.args + ") " + std::string(name_of(dtype)) + " size " +
         std::to_string(size);
}

}  // namespace breakeven
