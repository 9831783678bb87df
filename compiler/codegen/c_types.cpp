#include "compiler/codegen/c_types.h"

#include <array>

#include "compiler/support/check.h"

namespace breakeven {

const CType& c_type(DType dtype) {
  static constexpr std::array<CType, 10> kTypes = {{
      {"be_u8", "be_u8", "u8", "", "", ""},  // bool: 0 or 1
      {"be_u8", "be_u8", "u8", "", "", ""},
      {"be_i8", "be_i8", "i8", "", "", ""},
      {"be_i16", "be_i16", "i16", "", "", ""},
      {"be_i32", "be_i32", "i32", "", "", ""},
      {"be_i64", "be_i64", "i64", "", "", ""},
      {"_Float16", "float", "f32", "be_load_f16", "be_store_f16", "be_round_f16"},
      {"be_u16", "float", "f32", "be_load_bf16", "be_store_bf16", "be_round_bf16"},
      {"float", "float", "f32", "", "", ""},
      {"double", "double", "f64", "", "", ""},
  }};
  const auto index = static_cast<std::size_t>(dtype);
  BE_CHECK(index < kTypes.size());
  return kTypes[index];
}

}  // namespace breakeven
