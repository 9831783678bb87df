#pragma once

#include <cstdint>
#include <functional>

namespace breakeven {

/// Splits [0, n) among worker threads. The LibTorch build hands in ATen's own pool, so that kernels
/// and ATen never run two pools against each other.
class ParallelFor {
 public:
  virtual ~ParallelFor() = default;
  virtual int thread_count() const = 0;
  /// Calls body(begin, end) on disjoint ranges that cover [0, n), none smaller than `grain` but the
  /// last. Returns when all are done. Chunk bounds depend on n, grain and thread_count alone.
  virtual void run(std::int64_t n, std::int64_t grain,
                   const std::function<void(std::int64_t, std::int64_t)>& body) = 0;
};

/// Runs everything on the calling thread.
class SerialFor final : public ParallelFor {
 public:
  int thread_count() const override { return 1; }
  void run(std::int64_t n, std::int64_t grain,
           const std::function<void(std::int64_t, std::int64_t)>& body) override;
};

}  // namespace breakeven
