#include "compiler/support/parallel.h"

namespace breakeven {

void SerialFor::run(std::int64_t n, std::int64_t,
                    const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (n > 0) body(0, n);
}

}  // namespace breakeven
