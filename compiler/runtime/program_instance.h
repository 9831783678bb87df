#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "compiler/runtime/memory_plan.h"
#include "compiler/runtime/program.h"

namespace breakeven {

/// A program made ready for one set of symbol values: buffers, bound library calls, and every size
/// and address that stays from run to run. One caller at a time; refers to the program's parts.
class ProgramInstance {
 public:
  /// `fixed` by value: weights and constants, others empty. Refuses what the backend cannot bind.
  static Result<std::unique_ptr<ProgramInstance>> make(
      const Graph& graph, std::span<const Step> steps, const std::vector<HostTensor>& fixed,
      std::vector<std::int64_t> symbol_values, ExternBackend& backend, ParallelFor& parallel);

  std::span<const std::int64_t> symbol_values() const { return symbol_values_; }

  /// As Program::run. Kernels alone allocate nothing once their answers' memory comes back.
  Result<bool> run(std::span<const HostTensor> inputs, std::vector<HostTensor>& outputs,
                   RunCounters& counters);

 private:
  /// An address of a launch that may change with each run.
  struct Moving {
    std::size_t argument = 0;  ///< Index into in or out.
    std::size_t value = 0;
  };
  struct Launch {
    KernelEntry entry = nullptr;
    std::vector<const void*> in;
    std::vector<void*> out;
    std::vector<std::int64_t> sizes;
    std::vector<Moving> moving_in;
    std::vector<Moving> moving_out;  ///< Answers: their memory is the receiver's after the run.
    std::int64_t extent = 0;
    std::int64_t grain = 1;
    std::int64_t scratch_bytes = 0;
  };
  struct Call {
    std::unique_ptr<ExternOp> op;
    std::vector<std::size_t> operands;
    std::vector<HostTensor*> results;
    bool counts = true;  ///< A library op; else a view.
  };
  struct Operation {
    std::variant<Launch, Call> work;
    std::vector<std::size_t> dies;  ///< Values to drop after it.
  };

  ProgramInstance(const Graph& graph, const std::vector<HostTensor>& fixed,
                  std::vector<std::int64_t> symbol_values, ParallelFor& parallel);
  std::int64_t evaluate(Sym size) const { return graph_.syms.evaluate(size, symbol_values_); }
  void place_values(std::span<const Step> steps, const MemoryPlan& plan);
  Launch make_launch(const Step& step);
  Result<bool> add_call(const Step& step, ExternBackend& backend);
  bool stays_a_view(const Call& call) const;
  Result<bool> call(Call& call);
  bool launch(Launch& launch, RunCounters& counters);

  const Graph& graph_;
  std::vector<std::int64_t> symbol_values_;
  ParallelFor& parallel_;
  std::shared_ptr<void> arena_;
  std::vector<HostTensor> values_;         ///< By value; of inputs unused.
  std::vector<const HostTensor*> tensor_;  ///< By value: the request's input or the one above.
  std::vector<bool> stays_;                ///< By value: type, layout and address never change.
  std::vector<std::size_t> transient_;     ///< Values that library calls make anew.
  std::vector<Operation> operations_;
  std::vector<const HostTensor*> operands_;  ///< Of the call under way.
  std::int64_t launches_ = 0;                ///< Of a run.
  std::int64_t calls_ = 0;
};

}  // namespace breakeven
