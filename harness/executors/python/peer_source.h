#pragma once

#include <span>

namespace breakeven {

/// One Python module that is built into the plugin.
struct PeerModule {
  const char* name;    ///< As imported.
  const char* file;    ///< Shown in tracebacks.
  const char* source;  ///< Its text.
};

/// In the order in which they import one another.
std::span<const PeerModule> peer_modules();

}  // namespace breakeven
