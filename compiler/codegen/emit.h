#pragma once

#include <string>

#include "compiler/codegen/kernel.h"
#include "compiler/ir/graph.h"
#include "compiler/schedule/schedule.h"

namespace breakeven {

/// Bytes at the start of the scratch memory that belong to the kernel's status: the first 32-bit
/// word is set to a KernelStatus when the kernel met what only eager can answer.
inline constexpr std::int64_t kStatusBytes = 64;

enum class KernelStatus : std::int32_t {
  kDone = 0,
  kIndexOutOfRange =
      1,  ///< A gather's row number is outside its table; element 0 was read instead.
};

/// The C++ text of a scheduled group and how to launch it. Deterministic: members are named by
/// their place in the group, so equal groups of different layers give equal bytes. Interns sizes in
/// graph.syms.
KernelSource emit_kernel(Graph& graph, const Schedule& schedule);

/// The function that kernels with a product call for tiles as in `nest`: sums[r][lane] of rows by
/// one packed panel. All products of a program share it, since it is the costly part to compile.
KernelUnit emit_multiply(const ProductNest& nest);

/// C++ text of a value in `dtype`'s register type, exact: "0x1.8p+1f", "__builtin_inff()".
std::string float_literal(double value, DType dtype);
std::string integer_literal(std::int64_t value, DType dtype);

}  // namespace breakeven
