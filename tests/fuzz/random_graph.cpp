#include "tests/fuzz/random_graph.h"

#include <array>
#include <string>
#include <utility>

#include "compiler/ir/numeric.h"
#include "compiler/ir/op_table.h"

namespace breakeven {
namespace {

/// splitmix64: unlike the standard distributions, the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}

  std::uint64_t below(std::uint64_t bound) {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return (z ^ (z >> 31)) % bound;
  }
  bool flip() { return below(2) == 0; }
  template <typename T, std::size_t N>
  const T& pick(const std::array<T, N>& items) {
    return items[below(N)];
  }

 private:
  std::uint64_t state_;
};

class Builder {
 public:
  explicit Builder(std::uint64_t seed) : random_(seed), graph_("fuzz") {
    n_ = graph_.syms.symbol("n", {1, 6}, 3);
  }

  Graph run() {
    const std::uint64_t inputs = 1 + random_.below(3);
    for (std::uint64_t i = 0; i < inputs; ++i) add_input("x" + std::to_string(i));
    const std::uint64_t steps = 3 + random_.below(15);
    for (std::uint64_t i = 0; i < steps; ++i) add_step();
    std::vector<ValueId> outputs = {pool_.back()};
    if (random_.flip()) outputs.push_back(any());
    graph_.set_outputs(std::move(outputs));
    return std::move(graph_);
  }

 private:
  Sym constant(std::int64_t value) { return graph_.syms.constant(value); }
  ValueId any() { return pool_[random_.below(pool_.size())]; }
  const std::vector<Sym>& sizes(ValueId id) const { return graph_.type(id).sizes; }
  Sym any_dim(ValueId id, bool may_be_negative = true) {
    const auto rank = static_cast<std::int64_t>(sizes(id).size());
    if (rank == 0) return constant(0);
    const auto dim = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(rank)));
    return constant(may_be_negative && random_.flip() ? dim - rank : dim);
  }

  void add_input(const std::string& name) {
    static constexpr std::array kDTypes = {DType::kF32, DType::kF32, DType::kF64, DType::kI64,
                                           DType::kBool};
    TensorType type{random_.pick(kDTypes), {}};
    // The first input carries n, so that its size can be read off the inputs.
    if (pool_.empty()) type.sizes.push_back(n_);
    const std::uint64_t rank = random_.below(pool_.empty() ? 3 : 4);
    for (std::uint64_t d = 0; d < rank; ++d) {
      const std::array<Sym, 5> choices = {n_, n_, constant(1), constant(3), constant(4)};
      type.sizes.push_back(random_.pick(choices));
    }
    pool_.push_back(graph_.add_input(name, std::move(type)));
  }

  /// Adds the op when its type rule accepts the arguments.
  void try_add(const std::string& op, std::vector<Arg> args) {
    const std::string name = random_.flip() ? "v" + std::to_string(random_.below(9)) : "";
    const Result<std::vector<ValueId>> outputs = add_checked(graph_, op, std::move(args), name);
    if (!outputs.ok()) return;
    for (const ValueId id : outputs.value()) pool_.push_back(id);
  }

  void add_step() {
    switch (random_.below(10)) {
      case 0:
        return add_unary();
      case 1:
      case 2:
        return add_binary();
      case 3:
        return add_reduction();
      case 4:
      case 5:
        return add_view();
      case 6:
        return add_composite();
      case 7:
        return add_scalar_op();
      case 8:
        return add_product();
      default:
        return add_join_or_creation();
    }
  }

  void add_unary() {
    static constexpr std::array kNames = {
        "neg",   "abs",  "relu", "tanh",   "sigmoid",   "silu",  "gelu",  "erf",    "logical_not",
        "isnan", "sign", "mish", "square", "hardswish", "relu6", "clone", "detach", "contiguous"};
    try_add("aten." + std::string(random_.pick(kNames)) + ".default", {{"self", any()}});
  }

  void add_binary() {
    static constexpr std::array kNames = {
        "add.Tensor", "sub.Tensor", "mul.Tensor",  "minimum.default",    "maximum.default",
        "lt.Tensor",  "ge.Tensor",  "rsub.Tensor", "logical_or.default", "bitwise_and.Tensor"};
    std::vector<Arg> args = {{"self", any()}, {"other", any()}};
    const std::string op = "aten." + std::string(random_.pick(kNames));
    if (op == "aten.add.Tensor" && random_.below(4) == 0) args.push_back({"alpha", constant(2)});
    try_add(op, std::move(args));
  }

  ArgValue any_scalar() {
    if (random_.below(8) == 0) return n_;
    if (random_.flip()) return 0.5;
    return constant(static_cast<std::int64_t>(random_.below(4)) + 1);
  }

  void add_scalar_op() {
    static constexpr std::array kNames = {"add", "sub", "mul", "div", "eq", "gt", "rsub"};
    const ArgValue other = any_scalar();
    if (random_.below(4) == 0) {
      return try_add("aten.clamp.default", {{"self", any()}, {"min", -1.0}, {"max", other}});
    }
    if (random_.below(6) == 0) {
      return try_add("aten.pow.Tensor_Scalar", {{"self", any()}, {"exponent", constant(2)}});
    }
    try_add("aten." + std::string(random_.pick(kNames)) + ".Scalar",
            {{"self", any()}, {"other", other}});
  }

  HostTensor any_constant(std::vector<std::int64_t> sizes) {
    HostTensor tensor = HostTensor::empty(DType::kF32, std::move(sizes));
    for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
      tensor.as<float>()[i] = static_cast<float>(random_.below(129)) / 64 - 1;
    }
    return tensor;
  }

  /// Of rows by a constant weight, around the widths of vectors and panels.
  void add_product() {
    static constexpr std::array<std::int64_t, 7> kColumns = {2, 3, 8, 15, 17, 32, 33};
    const ValueId rows = any();
    if (sizes(rows).empty() || graph_.type(rows).dtype != DType::kF32) return;
    const auto depth = graph_.syms.as_constant(sizes(rows).back());
    if (!depth.has_value() || *depth < 1) return;
    const std::int64_t columns = random_.pick(kColumns);
    if (random_.flip()) {
      const ValueId weight = graph_.add_constant(any_constant({*depth, columns}));
      return try_add("aten.matmul.default", {{"self", rows}, {"other", weight}});
    }
    const ValueId weight = graph_.add_constant(any_constant({columns, *depth}));
    std::vector<Arg> args = {{"input", rows}, {"weight", weight}};
    if (random_.flip()) args.push_back({"bias", graph_.add_constant(any_constant({columns}))});
    try_add("aten.linear.default", std::move(args));
  }

  void add_reduction() {
    static constexpr std::array kNames = {"sum.dim_IntList", "mean.dim", "amax.default",
                                          "amin.default",    "any.dims", "all.dims"};
    static constexpr std::array kWhole = {"sum.default", "max.default", "any.default"};
    const ValueId self = any();
    if (random_.below(5) == 0) {
      return try_add("aten." + std::string(random_.pick(kWhole)), {{"self", self}});
    }
    try_add(
        "aten." + std::string(random_.pick(kNames)),
        {{"self", self}, {"dim", std::vector<Sym>{any_dim(self)}}, {"keepdim", random_.flip()}});
  }

  void add_view() {
    const ValueId self = any();
    const std::vector<Sym> old = sizes(self);
    switch (random_.below(9)) {
      case 0:
        return try_add("aten.flatten.using_ints", {{"self", self}});
      case 1:
        return try_add("aten.transpose.int",
                       {{"self", self}, {"dim0", any_dim(self)}, {"dim1", any_dim(self)}});
      case 2:
        return try_add("aten.unsqueeze.default", {{"self", self}, {"dim", any_dim(self)}});
      case 3: {
        std::vector<Sym> wider = {constant(2)};
        for (std::size_t i = 0; i < old.size(); ++i) wider.push_back(constant(-1));
        return try_add("aten.expand.default", {{"self", self}, {"size", wider}});
      }
      case 4:
        return try_add("aten.slice.Tensor",
                       {{"self", self},
                        {"dim", any_dim(self)},
                        {"start", constant(static_cast<std::int64_t>(random_.below(3)) - 1)},
                        {"end", constant(static_cast<std::int64_t>(random_.below(5)) - 1)}});
      case 5:
        return try_add("aten.select.int",
                       {{"self", self}, {"dim", any_dim(self)}, {"index", constant(0)}});
      case 6:
        return try_add("aten.squeeze.dim", {{"self", self}, {"dim", any_dim(self)}});
      case 7:
        return try_add("aten.split.Tensor",
                       {{"self", self}, {"split_size", constant(2)}, {"dim", any_dim(self)}});
      default: {
        std::vector<Sym> merged = {constant(-1)};
        if (!old.empty() && graph_.syms.range(old.back()).lo > 0) merged.push_back(old.back());
        return try_add("aten.reshape.default", {{"self", self}, {"shape", merged}});
      }
    }
  }

  void add_composite() {
    const ValueId self = any();
    switch (random_.below(6)) {
      case 0:
        return try_add("aten.softmax.int", {{"self", self}, {"dim", any_dim(self)}});
      case 1:
        return try_add("aten.log_softmax.int", {{"self", self}, {"dim", any_dim(self)}});
      case 2:
      case 3: {
        if (sizes(self).empty()) return;
        const char* op =
            random_.flip() ? "aten.layer_norm.default" : "aten.native_layer_norm.default";
        return try_add(op, {{"input", self},
                            {"normalized_shape", std::vector<Sym>{sizes(self).back()}},
                            {"eps", 0.1}});
      }
      case 4:
        return try_add("aten.where.self", {{"condition", any()}, {"self", self}, {"other", any()}});
      default:
        return try_add("aten.var.correction", {{"self", self},
                                               {"dim", std::vector<Sym>{any_dim(self)}},
                                               {"correction", constant(0)}});
    }
  }

  void add_join_or_creation() {
    const ValueId self = any();
    static constexpr std::array kDTypes = {DType::kF32, DType::kF64, DType::kI64, DType::kBool};
    switch (random_.below(6)) {
      case 0:
        return try_add("aten.cat.default",
                       {{"tensors", std::vector<ValueId>{self, any()}}, {"dim", any_dim(self)}});
      case 1:
        return try_add("aten.stack.default",
                       {{"tensors", std::vector<ValueId>{self, self}}, {"dim", any_dim(self)}});
      case 2:
        return try_add("aten.to.dtype", {{"self", self}, {"dtype", random_.pick(kDTypes)}});
      case 3:
        return try_add("aten.full.default", {{"size", std::vector<Sym>{n_}}, {"fill_value", 0.25}});
      case 4:
        return try_add("aten.arange.default", {{"end", n_}});
      default:
        return try_add("aten.masked_fill.Scalar",
                       {{"self", self}, {"mask", any()}, {"value", 0.5}});
    }
  }

  Random random_;
  Graph graph_;
  Sym n_;
  std::vector<ValueId> pool_;
};

}  // namespace

Graph random_graph(std::uint64_t seed) { return Builder(seed).run(); }

std::vector<HostTensor> random_inputs(const Graph& graph, std::uint64_t seed, std::int64_t n) {
  Random random(seed ^ 0x5DEECE66DULL);
  const std::int64_t values[] = {n};
  std::vector<HostTensor> inputs;
  for (const ValueId id : graph.inputs()) {
    const TensorType& type = graph.type(id);
    std::vector<std::int64_t> sizes;
    const bool has_symbol = !graph.syms.symbols().empty();
    for (const Sym size : type.sizes) {
      sizes.push_back(has_symbol ? graph.syms.evaluate(size, values)
                                 : *graph.syms.as_constant(size));
    }
    HostTensor tensor = HostTensor::empty(type.dtype, sizes);
    for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
      const double x = static_cast<double>(random.below(257)) / 64 - 2;
      encode_element(type.dtype, is_floating(type.dtype) ? x : static_cast<double>(random.below(5)),
                     tensor.as<char>() + i * size_of(type.dtype));
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace breakeven
