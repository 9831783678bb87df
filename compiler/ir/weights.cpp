#include <cmath>
#include <utility>

#include "compiler/ir/numeric.h"
#include "compiler/ir/reference.h"
#include "compiler/support/check.h"
#include "compiler/support/error.h"

namespace breakeven {
namespace {

/// splitmix64 as a counter: the i-th word depends on the seed and i alone.
std::uint64_t random_word(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ULL + (counter + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

/// In [0, 1), a multiple of 2^-53.
double uniform(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(random_word(seed, counter) >> 11) * 0x1p-53;
}

/// ln(x) of x in (0, 1] and cos(2 pi t) of t in [0, 1) by series in plain arithmetic: the same bits
/// on every machine, which the C library's functions do not promise.
double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < M_SQRT1_2) {
    mantissa *= 2;
    --exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double series = 0;
  for (int k = 27; k >= 1; k -= 2) series = series * square + 1.0 / k;
  return 2 * s * series + exponent * M_LN2;
}

double portable_cos_turn(double t) {
  t -= std::floor(t);
  if (t > 0.5) t = 1 - t;  // cos is even about half a turn.
  const bool is_flipped = t > 0.25;
  if (is_flipped) t = 0.5 - t;
  const double x = 2 * M_PI * t;
  const double square = x * x;
  double series = 0;
  for (int k = 22; k >= 2; k -= 2) series = (series + 1) * -square / (k * (k - 1.0));
  const double value = 1 + series;
  return is_flipped ? -value : value;
}

double normal(std::uint64_t seed, std::uint64_t counter) {
  const double radius = std::sqrt(-2 * portable_log(1 - uniform(seed, 2 * counter)));
  return radius * portable_cos_turn(uniform(seed, 2 * counter + 1));
}

double initial_element(const WeightInit& init, std::uint64_t index) {
  switch (init.kind) {
    case WeightInit::Kind::kZeros:
      return 0;
    case WeightInit::Kind::kOnes:
      return 1;
    case WeightInit::Kind::kNormal:
      return init.a + init.b * normal(init.seed, index);
    case WeightInit::Kind::kUniform:
      return init.a + (init.b - init.a) * uniform(init.seed, index);
    case WeightInit::Kind::kNone:
      break;
  }
  BE_CHECK(false, "a weight without an init rule");
}

}  // namespace

void initialise_weights(const Graph& graph, WeightMap& weights) {
  for (const Node& node : graph.nodes()) {
    if (node.kind != NodeKind::kWeight || node.init.kind == WeightInit::Kind::kNone) continue;
    const TensorType& type = graph.type(node.outputs.front());
    std::vector<std::int64_t> sizes;
    for (const Sym size : type.sizes) {
      const std::optional<std::int64_t> value = graph.syms.as_constant(size);
      if (!value) {
        throw UserError(Diagnostic{"", 0, 0, "weight '" + node.name + "' has a symbolic size",
                                   graph.syms.to_string(size), "Give weights constant sizes."});
      }
      sizes.push_back(*value);
    }
    HostTensor tensor = HostTensor::empty(type.dtype, std::move(sizes));
    auto* bytes = tensor.as<unsigned char>();
    for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
      encode_element(type.dtype, initial_element(node.init, static_cast<std::uint64_t>(i)),
                     bytes + i * size_of(type.dtype));
    }
    weights[node.name] = std::move(tensor);
  }
}

}  // namespace breakeven
