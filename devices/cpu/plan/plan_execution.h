#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "devices/cpu/plan/plan.h"
#include "inference/tensors/buffer.h"

namespace het::cpu {

/// The memory and pointers of one execution of a plan at a time. Runs on a stream's thread, one
/// thread at a time. The plan must outlive it.
class PlanExecution {
 public:
  static Result<std::unique_ptr<PlanExecution>> create(const Plan& plan);

  /// Dense host memory of the model's inputs and outputs; null for outputs sized at run time.
  /// Allocates nothing after the first time.
  void bind(const std::vector<std::byte*>& inputs, const std::vector<std::byte*>& outputs);
  /// False when an input that a step must find finite is not: then it must not be run.
  bool may_run_step(size_t step) const;
  /// Steps are run in order. `cancelled` may be null.
  Status run_step(size_t step, const std::atomic<bool>* cancelled);
  /// Host address of a plan tensor during an execution; null for Dynamic.
  std::byte* address(TensorId id) const;
  /// A value sized at run time.
  const Tensor& dynamic(TensorId id) const { return dynamic_[static_cast<size_t>(id)]; }

 private:
  /// The operands of a step in `pointers_`.
  struct StepPointers {
    size_t inputs = 0;
    size_t outputs = 0;
  };
  /// A pointer that follows the tensor of a port.
  struct PortPointer {
    size_t pointer = 0;
    size_t port = 0;
    size_t offset = 0;
    bool output = false;
  };

  explicit PlanExecution(const Plan& plan) : plan_(plan) {}
  Status prepare();
  void add_pointer(TensorId id);

  const Plan& plan_;
  BufferPtr arena_;
  BufferPtr scratch_;
  std::vector<std::byte*> pointers_;
  std::vector<StepPointers> step_pointers_;
  std::vector<PortPointer> port_pointers_;
  std::vector<std::unique_ptr<KernelState>> states_;
  std::vector<Tensor> dynamic_;      ///< by plan tensor; empty unless Dynamic
  std::vector<std::byte*> inputs_;   ///< per port
  std::vector<std::byte*> outputs_;  ///< per port
};

}  // namespace het::cpu
