#pragma once

#include "compiler/ir/graph.h"
#include "compiler/support/result.h"

namespace breakeven {

/// A matrix product whose right factor is a weight: init + sum over k of rows[.., k] * weight(k,
/// n).
struct Product {
  ValueId rows;                ///< Left factor, f32[.., depth]; contracted over its last dim.
  ValueId weight;              ///< kWeight or kConstant of two dims.
  bool columns_first = false;  ///< The weight is [columns, depth], else [depth, columns].
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  ValueId init;  ///< What every sum starts from, broadcast to the result; invalid: zero.
};

/// Whether the op multiplies matrices at all: linear, mm, addmm, matmul.
bool is_product(const Node& node);

/// The product that a node computes, where a kernel over packed weights can; otherwise why not.
Result<Product> product_of(const Graph& graph, const Node& node);

}  // namespace breakeven
