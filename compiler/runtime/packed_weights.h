#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "compiler/fuse/fusion.h"
#include "compiler/ir/host_tensor.h"
#include "compiler/support/parallel.h"

namespace breakeven {

/// Weights of matrix products in the order in which kernels read them: panels of so many columns,
/// in each the columns of one depth side by side, the last panel filled up with zeros. One copy a
/// weight however many programs read it; it goes with the last of them. Safe from several threads.
class PackedWeights {
 public:
  /// The packed copy of `weight`, f32 of two dims with any strides; made now when there is none.
  std::shared_ptr<const float> get(const HostTensor& weight, const ProductWeight& shape, int lanes,
                                   ParallelFor& parallel);
  /// Of all copies made so far.
  std::int64_t bytes_made() const;

 private:
  struct Key {
    const void* data = nullptr;
    std::vector<std::int64_t> layout;  ///< Strides by column and depth, columns, depth, lanes.
    auto operator<=>(const Key&) const = default;
  };
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<const float>> copies_;
  std::int64_t bytes_made_ = 0;
};

}  // namespace breakeven
