#include "harness/traffic/random.h"

#include <bit>
#include <cmath>

#include "compiler/support/check.h"
#include "compiler/support/hash.h"

namespace breakeven {
namespace {

constexpr double kLn2High =
    0x1.62e42fefa38p-1;  // ln 2 with its low bits cleared: k * high is exact.
constexpr double kLn2Low = 0x1.ef35793c7673p-45;

std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

double portable_log(double x) {
  BE_CHECK(x > 0 && std::isfinite(x), "log of " << x);
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0x1.6a09e667f3bcdp-1) {
    mantissa *= 2;
    --exponent;
  }
  // atanh series of s = (m - 1) / (m + 1), |s| <= 0.172: the first term left out is below 2^-57.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int k = 21; k >= 3; k -= 2) sum = (sum + 1.0 / k) * square;
  const double series = 2 * s + 2 * s * sum;
  return exponent * kLn2High + (exponent * kLn2Low + series);
}

double portable_exp(double x) {
  BE_CHECK(std::fabs(x) < 700, "exp of " << x);
  const double k = std::floor(x / (kLn2High + kLn2Low) + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1;
  for (int n = 16; n >= 1; --n) sum = 1 + r / n * sum;
  return std::ldexp(sum, static_cast<int>(k));
}

TrafficRandom::TrafficRandom(std::uint64_t seed, std::string_view purpose) {
  std::uint64_t mix = seed ^ hash_bytes(purpose).low;
  for (std::uint64_t& word : state_) word = split_mix(mix);
}

std::uint64_t TrafficRandom::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double TrafficRandom::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double TrafficRandom::uniform_open() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

std::uint64_t TrafficRandom::below(std::uint64_t bound) {
  BE_CHECK(bound > 0);
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;) {
    const std::uint64_t drawn = next();
    if (drawn < limit) return drawn % bound;
  }
}

double TrafficRandom::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  for (;;) {
    const double u = 2 * uniform_open() - 1;
    const double v = 2 * uniform_open() - 1;
    const double square = u * u + v * v;
    if (square >= 1 || square == 0) continue;
    const double scale = std::sqrt(-2 * portable_log(square) / square);
    spare_ = v * scale;
    has_spare_ = true;
    return u * scale;
  }
}

double TrafficRandom::exponential() { return -portable_log(uniform_open()); }

double TrafficRandom::gamma(double shape) {
  BE_CHECK(shape > 0, "gamma shape " << shape);
  if (shape < 1) {
    const double exponent = portable_log(uniform_open()) / shape;
    // e^-700 is far below a nanosecond at any rate.
    return exponent < -650 ? 0 : gamma(shape + 1) * portable_exp(exponent);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (portable_log(uniform_open()) < 0.5 * x * x + d - d * v + d * portable_log(v)) return d * v;
  }
}

}  // namespace breakeven
