#include <algorithm>
#include <functional>
#include <limits>

#include "compiler/codegen/emit.h"
#include "compiler/runtime/packed_weights.h"
#include "compiler/runtime/product_choice.h"

namespace breakeven {
namespace {

/// Multiplications of one timed run; more columns change the times in proportion.
constexpr std::int64_t kMostWork = std::int64_t{1} << 26;
constexpr std::int64_t kFewestColumns = 64;
constexpr int kRuns = 4;

using Multiply = void (*)(const float* const* rows, long long count, long long depth,
                          const float* w, float* sums);

HostTensor filled(std::vector<std::int64_t> sizes) {
  HostTensor tensor = HostTensor::empty(DType::kF32, std::move(sizes));
  std::fill_n(tensor.as<float>(), tensor.element_count(), 0.5F);
  return tensor;
}

/// The fastest of a few runs: whatever else the machine does only makes one slower.
Nanos fastest(const std::function<void()>& run) {
  run();
  Nanos best = std::numeric_limits<Nanos>::max();
  for (int i = 0; i < kRuns; ++i) {
    const Nanos start = now_ns();
    run();
    best = std::min(best, now_ns() - start);
  }
  return std::max<Nanos>(1, best);
}

/// Runs the generated tiles as a product's kernel does, panel by panel.
class Panels {
 public:
  Panels(const HostTensor& rows, const HostTensor& weight, const ProductNest& nest,
         Multiply multiply, ParallelFor& parallel)
      : nest_(nest),
        multiply_(multiply),
        parallel_(parallel),
        depth_(rows.sizes[1]),
        columns_(weight.sizes[0]),
        result_(HostTensor::empty(DType::kF32, {rows.sizes[0], columns_})) {
    ProductWeight shape;
    shape.columns_first = true;
    shape.depth = depth_;
    shape.columns = columns_;
    panels_ = packed_.get(weight, shape, nest.lanes, parallel);
    for (std::int64_t r = 0; r < rows.sizes[0]; ++r) {
      starts_.push_back(rows.as<float>() + r * depth_);
    }
  }

  void run() {
    const auto rows = static_cast<std::int64_t>(starts_.size());
    const std::int64_t blocks = (rows + nest_.row_block - 1) / nest_.row_block;
    const std::int64_t panels = columns_ / nest_.lanes;
    parallel_.run(panels * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> sums(static_cast<std::size_t>(nest_.row_block * nest_.lanes + 16));
      auto* aligned = reinterpret_cast<float*>(
          (reinterpret_cast<std::uintptr_t>(sums.data()) + 63) & ~std::uintptr_t{63});
      for (std::int64_t p = begin; p < end; ++p) {
        const std::int64_t first = p / panels * rows / blocks;
        const std::int64_t count = (p / panels + 1) * rows / blocks - first;
        const std::int64_t column = p % panels * nest_.lanes;
        std::fill_n(aligned, count * nest_.lanes, 0.0F);
        multiply_(starts_.data() + first, count, depth_, panels_.get() + column * depth_, aligned);
        for (std::int64_t r = 0; r < count; ++r) {
          std::copy_n(aligned + r * nest_.lanes, nest_.lanes,
                      result_.as<float>() + (first + r) * columns_ + column);
        }
      }
    });
  }

 private:
  const ProductNest& nest_;
  Multiply multiply_;
  ParallelFor& parallel_;
  std::int64_t depth_;
  std::int64_t columns_;
  HostTensor result_;
  PackedWeights packed_;
  std::shared_ptr<const float> panels_;
  std::vector<const float*> starts_;
};

}  // namespace

Result<ProductTimes> time_product(const ProductSize& size, const VectorUnit& unit,
                                  const ProductChoice::Bench& bench) {
  const ProductNest nest = product_tile(unit);
  const KernelUnit multiply = emit_multiply(nest);
  auto kernel = bench.cache.get(multiply.text, multiply.entry);
  if (!kernel.ok()) return kernel.refusal();
  std::int64_t columns = std::min(
      size.columns,
      std::max(kFewestColumns, kMostWork / std::max<std::int64_t>(1, size.rows * size.depth)));
  columns = (columns + nest.lanes - 1) / nest.lanes * nest.lanes;
  const HostTensor rows = filled({size.rows, size.depth});
  const HostTensor weight = filled({columns, size.depth});

  Graph graph("product");
  const auto constant = [&](std::int64_t value) { return graph.syms.constant(value); };
  const ValueId x =
      graph.add_input("x", {DType::kF32, {constant(size.rows), constant(size.depth)}});
  const ValueId w = graph.add_weight("w", {DType::kF32, {constant(columns), constant(size.depth)}});
  const ValueId y = graph.add_op("aten.linear.default", {{"input", x}, {"weight", w}},
                                 {{DType::kF32, {constant(size.rows), constant(columns)}}})[0];
  auto call = bench.backend.bind(graph, graph.node_of(y));
  if (!call.ok()) return call.refusal();

  ProductTimes times;
  Panels panels(rows, weight, nest, reinterpret_cast<Multiply>(kernel.value().kernel->entry()),
                bench.parallel);
  times.generated = fastest([&] { panels.run(); });
  const std::vector<const HostTensor*> operands = {&rows, &weight};
  Result<bool> outcome = true;
  times.library = fastest([&] {
    HostTensor result;
    const std::vector<HostTensor*> results = {&result};
    if (outcome.ok()) outcome = call.value()->run(operands, {}, results);
  });
  if (!outcome.ok()) return outcome.refusal();
  return times;
}

}  // namespace breakeven
