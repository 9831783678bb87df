#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "compiler/torch/torch_backend.h"

namespace breakeven {
namespace {

TEST(AtenParallel, CoversTheRangeOnceInChunksOfTheGrain) {
  set_torch_threads(2);
  const auto parallel = make_aten_parallel();
  EXPECT_EQ(parallel->thread_count(), 2);
  for (const std::int64_t n : {0, 1, 2, 7, 8, 1000}) {
    for (const std::int64_t grain : {1, 4, 600, 5000}) {
      std::mutex mutex;
      std::vector<int> seen(static_cast<std::size_t>(n), 0);
      std::vector<std::pair<std::int64_t, std::int64_t>> chunks;
      parallel->run(n, grain, [&](std::int64_t begin, std::int64_t end) {
        const std::lock_guard lock(mutex);
        chunks.emplace_back(begin, end);
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      });
      for (const int count : seen) ASSERT_EQ(count, 1);
      ASSERT_LE(chunks.size(), 2u);
      if (chunks.size() > 1) {
        for (const auto& [begin, end] : chunks) EXPECT_GE(end - begin, grain);
      }
    }
  }
}

TEST(AtenParallel, RunsOnSeveralThreads) {
  set_torch_threads(2);
  const auto parallel = make_aten_parallel();
  std::mutex mutex;
  std::set<std::thread::id> threads;
  parallel->run(2, 1, [&](std::int64_t, std::int64_t) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 2u);
  set_torch_threads(1);
  threads.clear();
  parallel->run(2, 1,
                [&](std::int64_t, std::int64_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  set_torch_threads(2);
}

TEST(AtenParallel, HandsOnExceptions) {
  const auto parallel = make_aten_parallel();
  const auto failing = [](std::int64_t, std::int64_t) { throw std::runtime_error("stop"); };
  EXPECT_THROW(parallel->run(100, 1, failing), std::runtime_error);
}

// Two OpenMP runtimes in one process would mean two pools that fight for the cores.
TEST(AtenParallel, OneOpenMpRuntimeIsLoaded) {
  make_aten_parallel()->run(100, 1, [](std::int64_t, std::int64_t) {});
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> runtimes;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    for (const char* name : {"libgomp", "libiomp", "libomp"}) {
      if (line.find(name, path) != std::string::npos) runtimes.insert(line.substr(path));
    }
  }
  EXPECT_EQ(runtimes.size(), 1u);
}

TEST(Torch, NamesItsVersion) { EXPECT_EQ(torch_version().rfind("2.11.0", 0), 0u); }

}  // namespace
}  // namespace breakeven
