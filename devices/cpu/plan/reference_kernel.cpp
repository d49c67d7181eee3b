#include "devices/cpu/plan/reference_kernel.h"

#include "devices/cpu/formats/node_copy.h"
#include "inference/ops/op.h"

namespace het::cpu {
namespace {

/// The tensors over a request's memory, remade only when the memory moves.
struct ReferenceState final : KernelState {
  std::vector<Tensor> inputs;
  std::vector<const Tensor*> input_pointers;
  std::vector<Tensor> outputs;
};

class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const Node& node, std::vector<ReferenceOperand> inputs,
                  std::vector<ReferenceOperand> outputs)
      : node_(node, descs_of(inputs)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  std::string_view implementation() const override { return "ref"; }

  Result<std::unique_ptr<KernelState>> create_state() const override {
    auto state = std::make_unique<ReferenceState>();
    state->inputs.resize(inputs_.size());
    state->input_pointers.resize(inputs_.size(), nullptr);
    state->outputs.resize(outputs_.size());
    return std::unique_ptr<KernelState>(std::move(state));
  }

  Status execute(const KernelArgs& args, KernelState* kernel_state) const override {
    auto& state = static_cast<ReferenceState&>(*kernel_state);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const ReferenceOperand& operand = inputs_[i];
      if (!operand.constant.empty()) {
        state.input_pointers[i] = &operand.constant;
      } else if (operand.id != kNoTensor && !operand.desc.is_static()) {
        state.input_pointers[i] = &args.dynamic[static_cast<size_t>(operand.id)];
      } else if (operand.id != kNoTensor) {
        HET_TRY(bind(operand, args.inputs[i], state.inputs[i]));
        state.input_pointers[i] = &state.inputs[i];
      }
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const ReferenceOperand& operand = outputs_[i];
      if (operand.id != kNoTensor && operand.desc.is_static()) {
        HET_TRY(bind(operand, args.outputs[i], state.outputs[i]));
      } else {
        state.outputs[i] = {};
      }
    }
    HET_ASSIGN(std::vector<Tensor> results,
               evaluate_node(*node_, state.input_pointers, state.outputs, args.cancelled));
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const ReferenceOperand& operand = outputs_[i];
      if (operand.id == kNoTensor) continue;
      if (!operand.desc.is_static()) {
        args.dynamic[static_cast<size_t>(operand.id)] = std::move(results[i]);
      } else if (results[i].bytes() != args.outputs[i]) {
        HET_TRY(copy_tensor(results[i], state.outputs[i]));
      }
    }
    return {};
  }

 private:
  static Status bind(const ReferenceOperand& operand, std::byte* address, Tensor& tensor) {
    if (!tensor.empty() && tensor.bytes() == address) return {};
    HET_ASSIGN(const size_t size, dense_size_bytes(operand.desc));
    HET_ASSIGN(tensor, Tensor::wrap(operand.desc, address, size));
    return {};
  }

  static std::vector<TensorDesc> descs_of(const std::vector<ReferenceOperand>& operands) {
    std::vector<TensorDesc> descs;
    for (const ReferenceOperand& operand : operands) descs.push_back(operand.desc);
    return descs;
  }

  NodeCopy node_;
  std::vector<ReferenceOperand> inputs_;
  std::vector<ReferenceOperand> outputs_;
};

}  // namespace

std::unique_ptr<Kernel> make_reference_kernel(const Node& node,
                                              std::vector<ReferenceOperand> inputs,
                                              std::vector<ReferenceOperand> outputs) {
  return std::make_unique<ReferenceKernel>(node, std::move(inputs), std::move(outputs));
}

}  // namespace het::cpu
