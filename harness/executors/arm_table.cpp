#include <algorithm>

#include "harness/executors/executor.h"

namespace breakeven {

const ArmKind* find_arm(const ArmTable& table, const std::string& arm) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const ArmKind& kind) {
    return kind.prefix == arm || (kind.prefix.ends_with(':') && arm.starts_with(kind.prefix));
  });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace breakeven
