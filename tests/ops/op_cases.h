#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/result.h"

namespace breakeven {

/// One operand of an op case.
struct CaseInput {
  enum class Role {
    kSwept,     ///< Takes the dtype under test.
    kMask,      ///< bool.
    kIndex,     ///< i64 in [0, 2).
    kPositive,  ///< The dtype under test, values above 0.
  };
  Role role = Role::kSwept;
  std::vector<std::int64_t> sizes;  ///< -1 stands for the size under test.
};

/// How one op of the table is called: `args` in the graph text's form over %a, %b, %c..
struct OpCase {
  std::string op;
  std::string args;
  std::vector<CaseInput> inputs;
};

/// At least one case for every row of the op table.
const std::vector<OpCase>& op_cases();

/// The case as a graph: size -1 becomes `size`, or the symbol n in [1, 64] when `is_symbolic`. A
/// refusal when the op's type rule refuses.
Result<Graph> build_case(const OpCase& op_case, DType dtype, std::int64_t size, bool is_symbolic);

/// The same inputs on every machine, for the sizes of build_case.
std::vector<HostTensor> make_case_inputs(const OpCase& op_case, DType dtype, std::int64_t size);

/// Name for a failed assertion.
std::string describe(const OpCase& op_case, DType dtype, std::int64_t size);

}  // namespace breakeven
