#include <ATen/Parallel.h>

#include <algorithm>

#include "compiler/torch/torch_backend.h"

#ifndef INTRA_OP_PARALLEL
#error "compile with OpenMP: without it at::parallel_for runs on one thread"
#endif

namespace breakeven {
namespace {

class AtenParallelFor final : public ParallelFor {
 public:
  int thread_count() const override { return at::get_num_threads(); }

  void run(std::int64_t n, std::int64_t grain,
           const std::function<void(std::int64_t, std::int64_t)>& body) override {
    if (n <= 0) return;
    const std::int64_t most = std::max<std::int64_t>(1, n / std::max<std::int64_t>(1, grain));
    const std::int64_t chunks = std::min<std::int64_t>(thread_count(), most);
    if (chunks == 1) {
      body(0, n);
      return;
    }
    // ATen splits by chunk number; the bounds are ours, so that they depend on nothing else.
    at::parallel_for(0, chunks, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) body(i * n / chunks, (i + 1) * n / chunks);
    });
  }
};

}  // namespace

std::unique_ptr<ParallelFor> make_aten_parallel() { return std::make_unique<AtenParallelFor>(); }

void set_torch_threads(int threads) {
  if (threads > 0) at::set_num_threads(threads);
}

}  // namespace breakeven
