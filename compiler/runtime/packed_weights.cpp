#include "compiler/runtime/packed_weights.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "compiler/support/check.h"

namespace breakeven {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Depths that are transposed together: a cache line of a weight stored by column.
constexpr std::int64_t kDepthTile = 16;

std::shared_ptr<float> panel_memory(std::size_t bytes) {
  // Weights are streamed once a request: huge pages spare the walk for every 4 KiB.
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, std::max(rounded, kAlignment));
  if (memory == nullptr) throw std::bad_alloc();
  if (alignment == kHugePage) ::madvise(memory, rounded, MADV_HUGEPAGE);
  return {static_cast<float*>(memory), [](float* owned) { std::free(owned); }};
}

/// Strides of a weight in elements, and its extents.
struct Layout {
  std::int64_t column_stride;
  std::int64_t depth_stride;
  std::int64_t columns;
  std::int64_t depth;
  std::int64_t lanes;
};

void pack_panel(const float* weight, const Layout& layout, std::int64_t panel, float* to) {
  const std::int64_t first = panel * layout.lanes;
  const std::int64_t width = std::min(layout.lanes, layout.columns - first);
  const float* from = weight + first * layout.column_stride;
  if (width < layout.lanes) std::fill(to, to + layout.depth * layout.lanes, 0.0F);
  for (std::int64_t k0 = 0; k0 < layout.depth; k0 += kDepthTile) {
    const std::int64_t k1 = std::min(layout.depth, k0 + kDepthTile);
    for (std::int64_t l = 0; l < width; ++l) {
      for (std::int64_t k = k0; k < k1; ++k) {
        to[k * layout.lanes + l] = from[l * layout.column_stride + k * layout.depth_stride];
      }
    }
  }
}

}  // namespace

std::shared_ptr<const float> PackedWeights::get(const HostTensor& weight,
                                                const ProductWeight& shape, int lanes,
                                                ParallelFor& parallel) {
  BE_CHECK(weight.dtype == DType::kF32 && weight.sizes.size() == 2, "only f32 matrices are packed");
  const std::size_t column_dim = shape.columns_first ? 0 : 1;
  const Layout layout{weight.strides[column_dim], weight.strides[1 - column_dim], shape.columns,
                      shape.depth, lanes};
  const Key key{weight.data,
                {layout.column_stride, layout.depth_stride, layout.columns, layout.depth, lanes}};
  // Held while packing: who wants the same weight waits for it instead of packing it again.
  const std::lock_guard lock(mutex_);
  std::weak_ptr<const float>& copy = copies_[key];
  if (std::shared_ptr<const float> known = copy.lock()) return known;
  const std::int64_t panels = (shape.columns + lanes - 1) / lanes;
  const std::int64_t bytes =
      panels * lanes * shape.depth * static_cast<std::int64_t>(sizeof(float));
  const std::shared_ptr<float> made = panel_memory(static_cast<std::size_t>(bytes));
  bytes_made_ += bytes;
  parallel.run(panels, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      pack_panel(weight.as<float>(), layout, p, made.get() + p * lanes * shape.depth);
    }
  });
  copy = made;
  return made;
}

std::int64_t PackedWeights::bytes_made() const {
  const std::lock_guard lock(mutex_);
  return bytes_made_;
}

}  // namespace breakeven
