#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/result.h"

namespace breakeven {

/// The dispatcher's operator for "aten.add.Tensor". Refuses with code "unknown_namespace" (naming
/// the library that would register it), "unsafe_op" or "unknown_op".
Result<c10::OperatorHandle> find_operator(std::string_view op);

/// How an op's arguments are bound for the dispatcher.
struct BindOptions {
  bool as_fp64 = false;        ///< Floating dtype arguments become f64.
  bool view_may_copy = false;  ///< aten.view also takes operands whose strides it could not view.
};

/// One node bound to the dispatcher: schema looked up, arguments converted, defaults filled in.
/// call() then only places tensors and symbolic integers on the stack.
class AtenOp {
 public:
  static Result<AtenOp> bind(const Graph& graph, const Node& node, BindOptions options = {});

  bool has_symbols() const { return !symbol_slots_.empty() || !symbol_list_slots_.empty(); }

  /// Puts operand i into `stack` by calling operand(i), which returns an at::Tensor; then calls the
  /// op. The outputs replace the stack's contents. Lets LibTorch's exceptions through.
  template <typename OperandFn>
  void call(torch::jit::Stack& stack, std::span<const std::int64_t> symbol_values,
            OperandFn&& operand) {
    if (has_symbols()) fill_symbols(symbol_values);
    stack.clear();
    stack.insert(stack.end(), template_.begin(), template_.end());
    for (const TensorSlot& slot : tensor_slots_) {
      stack[static_cast<std::size_t>(slot.position)] = operand(slot.operand);
    }
    for (const ListSlot& slot : list_slots_) {
      std::vector<at::Tensor> tensors;
      tensors.reserve(slot.operands.size());
      for (const int index : slot.operands) {
        tensors.push_back(index < 0 ? at::Tensor() : operand(index));
      }
      stack[static_cast<std::size_t>(slot.position)] = list_value(slot, std::move(tensors));
    }
    handle_.callBoxed(stack);
  }

  /// Moves the tensors that a call left on the stack into `outputs` (lists flattened). Refuses when
  /// the op returned another number of tensors than the node has outputs.
  Result<bool> take_outputs(torch::jit::Stack& stack, std::vector<at::Tensor>& outputs) const;

 private:
  struct TensorSlot {
    int position = 0;  ///< On the stack.
    int operand = 0;   ///< Index into the node's operands.
  };
  struct ListSlot {
    int position = 0;
    bool optional_elements = false;
    std::vector<int> operands;  ///< -1: a missing optional.
  };
  struct SymbolSlot {
    int position = 0;
    int element = 0;  ///< Of a list.
    enum class Kind : std::uint8_t { kInt, kDouble, kTensor } kind = Kind::kInt;
    int symbol = -1;  ///< Index of a plain symbol, else `expression` is evaluated.
    Sym expression;
  };
  struct Binder;

  explicit AtenOp(c10::OperatorHandle handle) : handle_(std::move(handle)) {}
  void fill_symbols(std::span<const std::int64_t> symbol_values);
  std::int64_t value_of(const SymbolSlot& slot, std::span<const std::int64_t> values) const;
  static c10::IValue list_value(const ListSlot& slot, std::vector<at::Tensor> tensors);

  c10::OperatorHandle handle_;
  std::string name_;
  std::size_t output_count_ = 0;
  torch::jit::Stack template_;
  std::vector<TensorSlot> tensor_slots_;
  std::vector<ListSlot> list_slots_;
  std::vector<SymbolSlot> symbol_slots_;
  std::vector<SymbolSlot> symbol_list_slots_;
  std::shared_ptr<const SymContext> syms_;  ///< Set when a slot has an expression.
};

/// what() of a LibTorch exception without its C++ backtrace, on one line.
std::string message_of(const std::exception& error);

}  // namespace breakeven
