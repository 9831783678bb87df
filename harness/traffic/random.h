#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace breakeven {

/// xoshiro256**, seeded by splitmix64, with transforms of its own: the std:: distributions and the
/// C library's log and exp differ between machines, and a schedule must not. Draws use + - * / and
/// square root alone, which IEEE 754 fixes to the bit.
class TrafficRandom {
 public:
  /// Streams of one seed with different `purpose` are independent.
  TrafficRandom(std::uint64_t seed, std::string_view purpose);

  std::uint64_t next();
  double uniform();                          ///< In [0, 1), 53 bits.
  double uniform_open();                     ///< In (0, 1).
  std::uint64_t below(std::uint64_t bound);  ///< In [0, bound), bound > 0, without bias.
  double normal();                           ///< Mean 0, deviation 1 (Marsaglia's polar method).
  double exponential();                      ///< Mean 1.
  /// Mean `shape`, scale 1, shape > 0 (Marsaglia and Tsang 2000; below 1 by their boost).
  double gamma(double shape);

 private:
  std::array<std::uint64_t, 4> state_;
  bool has_spare_ = false;
  double spare_ = 0;
};

/// ln x for x > 0 and e^x for |x| < 700, within 2 ulp, the same bits everywhere.
double portable_log(double x);
double portable_exp(double x);

}  // namespace breakeven
