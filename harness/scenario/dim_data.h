#pragma once

#include <cstdint>
#include <vector>

#include "harness/scenario/scenario.h"

namespace breakeven {

/// Sizes of one dim as data: the rows of a trace column in file order, or distinct sizes with
/// weights.
struct DimData {
  std::vector<std::int64_t> sizes;
  std::vector<double> weights;  ///< Empty for a trace column: each row counts once.
};

/// Reads what `source` names; kLogNormal has no data and gives none. Throws UserError.
DimData read_dim_data(const DimSource& source);

}  // namespace breakeven
