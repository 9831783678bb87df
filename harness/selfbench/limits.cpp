#include "harness/selfbench/limits.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "compiler/ir/host_tensor.h"
#include "compiler/support/clock.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace breakeven {
namespace {

/// Runs `part` on every thread at once, pass by pass. Threads spin between passes: a wake-up is
/// longer than a short pass.
std::vector<double> time_passes(int threads, int repeats, const std::function<void(int)>& part) {
  std::atomic<int> pass = 0, done = 0;
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) {
    others.emplace_back([&, t] {
      for (int next = 1; next <= repeats + 1; ++next) {
        while (pass.load(std::memory_order_acquire) < next) {
        }
        part(t);
        done.fetch_add(1, std::memory_order_release);
      }
    });
  }
  std::vector<double> passes;
  for (int i = 0; i <= repeats; ++i) {
    done = 0;
    const Nanos start = now_ns();
    pass.fetch_add(1, std::memory_order_release);
    part(0);
    while (done.load(std::memory_order_acquire) < threads - 1) {
    }
    if (i > 0) passes.push_back(static_cast<double>(now_ns() - start));
  }
  for (std::thread& other : others) other.join();
  return passes;
}

/// Bytes [begin, end) of a thread, on cache lines.
struct Share {
  std::int64_t begin, end;
  Share(std::int64_t bytes, int thread, int threads)
      : begin(bytes * thread / threads / 64 * 64), end(bytes * (thread + 1) / threads / 64 * 64) {}
};

#if defined(__x86_64__)
/// Four streams at once keep more misses under way than one does.
__attribute__((target("avx512f"))) std::int64_t read_512(const char* from, std::int64_t bytes) {
  const std::int64_t quarter = bytes / 4 / 128 * 128;
  __m512i sums[8] = {};
  for (std::int64_t at = 0; at < quarter; at += 128) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const char* here = from + quarter * (i / 2) + at + 64 * (i % 2);
      sums[i] = _mm512_add_epi64(sums[i], _mm512_loadu_si512(here));
    }
  }
#pragma GCC unroll 8
  for (int i = 1; i < 8; ++i) sums[0] = _mm512_add_epi64(sums[0], sums[i]);
  std::int64_t lanes[8];
  _mm512_storeu_si512(lanes, sums[0]);
  return lanes[0] + lanes[7];
}

__attribute__((target("avx2"))) std::int64_t read_256(const char* from, std::int64_t bytes) {
  const std::int64_t quarter = bytes / 4 / 64 * 64;
  __m256i sums[8] = {};
  for (std::int64_t at = 0; at < quarter; at += 64) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      const char* here = from + quarter * (i / 2) + at + 32 * (i % 2);
      sums[i] =
          _mm256_add_epi64(sums[i], _mm256_loadu_si256(reinterpret_cast<const __m256i*>(here)));
    }
  }
#pragma GCC unroll 8
  for (int i = 1; i < 8; ++i) sums[0] = _mm256_add_epi64(sums[0], sums[i]);
  return _mm256_extract_epi64(sums[0], 0) + _mm256_extract_epi64(sums[0], 3);
}

__attribute__((target("avx512f"))) float multiply_add_512(std::int64_t count) {
  __m512 sums[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 scale = _mm512_set1_ps(0.999F);
  for (std::int64_t done = 0; done < count; done += 16 * 16) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) sums[i] = _mm512_fmadd_ps(sums[i], scale, scale);
  }
#pragma GCC unroll 16
  for (int i = 1; i < 16; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  float lanes[16];
  _mm512_storeu_ps(lanes, sums[0]);
  return lanes[0] + lanes[15];
}

__attribute__((target("fma"))) float multiply_add_256(std::int64_t count) {
  __m256 sums[12];
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 scale = _mm256_set1_ps(0.999F);
  for (std::int64_t done = 0; done < count; done += 12 * 8) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) sums[i] = _mm256_fmadd_ps(sums[i], scale, scale);
  }
#pragma GCC unroll 12
  for (int i = 1; i < 12; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
  return _mm256_cvtss_f32(sums[0]);
}
#endif

std::int64_t read_all(const char* from, std::int64_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return read_512(from, bytes);
  if (__builtin_cpu_supports("avx2")) return read_256(from, bytes);
#endif
  std::int64_t sum = 0;
  for (std::int64_t at = 0; at + 8 <= bytes; at += 8) {
    std::int64_t word = 0;
    std::memcpy(&word, from + at, sizeof word);
    sum += word;
  }
  return sum;
}

float multiply_add(std::int64_t count) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return multiply_add_512(count);
  if (__builtin_cpu_supports("fma")) return multiply_add_256(count);
#endif
  float sums[16] = {};
  for (std::int64_t done = 0; done < count; done += 16) {
    for (float& sum : sums) sum = std::fma(sum, 0.999F, 0.999F);
  }
  return sums[0] + sums[15];
}

}  // namespace

std::vector<double> time_copy(std::int64_t bytes, int threads, int repeats) {
  const HostTensor from = HostTensor::zeros(DType::kU8, {bytes / 2});
  const HostTensor to = HostTensor::zeros(DType::kU8, {bytes / 2});
  return time_passes(threads, repeats, [&](int thread) {
    const Share share(bytes / 2, thread, threads);
    std::memcpy(static_cast<char*>(to.data) + share.begin,
                static_cast<const char*>(from.data) + share.begin,
                static_cast<std::size_t>(share.end - share.begin));
  });
}

std::vector<double> time_stream(std::int64_t bytes, int threads, int repeats) {
  const HostTensor from = HostTensor::zeros(DType::kU8, {bytes});
  std::atomic<std::int64_t> sink = 0;
  return time_passes(threads, repeats, [&](int thread) {
    const Share share(bytes, thread, threads);
    sink += read_all(static_cast<const char*>(from.data) + share.begin, share.end - share.begin);
  });
}

std::vector<double> time_fmas(std::int64_t count, int threads, int repeats) {
  std::atomic<float> sink = 0;
  return time_passes(threads, repeats, [&](int) {
    sink.store(multiply_add(count / threads), std::memory_order_relaxed);
  });
}

}  // namespace breakeven
