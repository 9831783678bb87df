#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/dtype.h"

namespace breakeven {

/// How a dtype looks in generated text: in memory, in a register, and in function suffixes.
struct CType {
  std::string_view memory;  ///< "unsigned short" of bf16.
  std::string_view reg;     ///< "float" of bf16.
  std::string_view suffix;  ///< Of prelude functions in this compute type: "f32".
  std::string_view load;    ///< Prelude function from memory to register; empty: none needed.
  std::string_view store;   ///< From register to memory.
  std::string_view round;   ///< Rounds a register to the type; empty: none needed.
};

const CType& c_type(DType dtype);

}  // namespace breakeven
