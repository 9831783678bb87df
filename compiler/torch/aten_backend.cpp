#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

#include "compiler/torch/aten_op.h"
#include "compiler/torch/aten_tensor.h"
#include "compiler/torch/torch_backend.h"

namespace breakeven {
namespace {

bool is_same_view(const HostTensor& a, const HostTensor& b) {
  return a.data == b.data && a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides;
}

class AtenExternOp final : public ExternOp {
 public:
  explicit AtenExternOp(AtenOp op, std::size_t operands)
      : op_(std::move(op)), operands_(operands) {}

  Result<bool> run(std::span<const HostTensor* const> operands,
                   std::span<const std::int64_t> symbol_values,
                   std::span<HostTensor* const> outputs) override {
    const c10::InferenceMode inference;
    try {
      for (std::size_t i = 0; i < operands_.size(); ++i) refresh(operands_[i], *operands[i]);
      op_.call(stack_, symbol_values, [this](int index) -> const at::Tensor& {
        return operands_[static_cast<std::size_t>(index)].tensor;
      });
      Result<bool> done = op_.take_outputs(stack_, produced_);
      for (std::size_t i = 0; done.ok() && i < produced_.size(); ++i) {
        done = fill_host_tensor(produced_[i], *outputs[i]);
        if (done.ok()) keep_alive(*outputs[i], produced_[i], operands);
      }
      produced_.clear();
      return done;
    } catch (const std::exception& error) {
      stack_.clear();
      produced_.clear();
      return Refusal{"extern_failed", message_of(error)};
    }
  }

 private:
  /// The tensor over an operand of the last call: weights and arena slots mostly come again.
  struct Operand {
    HostTensor view;  ///< Without its storage.
    at::Tensor tensor;
  };

  static void refresh(Operand& operand, const HostTensor& given) {
    if (operand.tensor.defined() && is_same_view(operand.view, given)) return;
    operand.view = given;
    operand.view.storage.reset();
    operand.tensor = borrow_tensor(given);
  }

  /// An output that is a view of an operand owns the operand's storage instead of the borrowed one.
  void keep_alive(HostTensor& output, const at::Tensor& tensor,
                  std::span<const HostTensor* const> operands) const {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (tensor.is_alias_of(operands_[i].tensor)) {
        output.storage = operands[i]->storage;
        return;
      }
    }
  }

  AtenOp op_;
  std::vector<Operand> operands_;
  torch::jit::Stack stack_;
  std::vector<at::Tensor> produced_;
};

class AtenBackend final : public ExternBackend {
 public:
  Result<std::unique_ptr<ExternOp>> bind(const Graph& graph, const Node& node) override {
    const c10::InferenceMode inference;
    // Fused kernels hand over dense tensors where eager's would be strided, and the other way
    // round.
    auto op = AtenOp::bind(graph, node, {.as_fp64 = false, .view_may_copy = true});
    if (!op.ok()) return op.refusal();
    return std::unique_ptr<ExternOp>(
        std::make_unique<AtenExternOp>(std::move(op).value(), operands_of(node).size()));
  }
};

}  // namespace

std::unique_ptr<ExternBackend> make_aten_backend() { return std::make_unique<AtenBackend>(); }

std::string torch_version() { return BREAKEVEN_TORCH_VERSION; }

}  // namespace breakeven
