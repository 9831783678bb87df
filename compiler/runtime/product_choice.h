#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "compiler/codegen/driver.h"
#include "compiler/fuse/product.h"
#include "compiler/runtime/extern_backend.h"
#include "compiler/runtime/kernel_cache.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/clock.h"
#include "compiler/support/parallel.h"

namespace breakeven {

/// A product's size as far as the choice goes: rows are rounded up to a power of two.
struct ProductSize {
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  friend auto operator<=>(const ProductSize&, const ProductSize&) = default;
};

/// Times of one size, measured on this machine.
struct ProductTimes {
  Nanos generated = 0;
  Nanos library = 0;
  /// The library must be clearly faster: a tie, or noise, keeps the generated kernel.
  bool prefers_library() const { return library < generated - generated / 8; }
};

/// Which products go to the library. Up to 64 rows none do; above, where the rows are known when a
/// program is made, both ways are timed once for each size, a few milliseconds each. The outcome
/// stays in a file beside the kernels, so that later processes choose alike: removing the file (or
/// the directory) has it measured again. Safe from several threads.
class ProductChoice {
 public:
  /// `target` and the number of threads name the file's lines; no directory: memory alone.
  ProductChoice(const std::filesystem::path& directory, const CpuTarget& target, int threads);

  /// How to measure; nothing is measured without it, and the generated kernel is chosen.
  struct Bench {
    KernelCache& cache;
    ExternBackend& backend;
    ParallelFor& parallel;
  };

  /// Why the library computes this product; empty: it does not.
  std::string why_library(const Graph& graph, const Product& product, const Bench* bench);

  /// A line for each size measured since the last call.
  std::vector<std::string> take_log();
  /// "128 x 768 x 3072: generated 1.3 ms, library 3.1 ms", for every size known.
  std::vector<std::string> lines() const;

 private:
  void read();
  void write() const;

  std::filesystem::path file_;
  std::string machine_;
  VectorUnit unit_;
  mutable std::mutex mutex_;
  std::map<ProductSize, ProductTimes> times_;
  std::vector<std::string> log_;
};

/// Times a product of this size (cut to fewer columns where it is large) both ways. Refuses when
/// the library or the compiler does.
Result<ProductTimes> time_product(const ProductSize& size, const VectorUnit& unit,
                                  const ProductChoice::Bench& bench);

}  // namespace breakeven
