#pragma once

#include <memory>
#include <vector>

#include "devices/gpu/plan/plan.h"
#include "inference/base/status.h"

namespace het::gpu {

/// The memory and kernel objects of one execution of a plan at a time. One thread at a time. The
/// plan and the context must outlive it.
class PlanExecution {
 public:
  static Result<std::unique_ptr<PlanExecution>> create(const Plan& plan, const Context& context);

  /// Device memory of the model's inputs and outputs, which must live until the execution ended.
  /// Costs nothing while it stays the same.
  Status bind_input(size_t port, cl_mem memory) { return bind(inputs_[port], memory, false, port); }
  Status bind_output(size_t port, cl_mem memory) {
    return bind(outputs_[port], memory, true, port);
  }

  /// To be called before memory of a port goes: other memory may get its address.
  void forget_input(size_t port) { inputs_[port] = nullptr; }
  void forget_output(size_t port) { outputs_[port] = nullptr; }

  /// Steps are enqueued in order; `event` may be null.
  Status enqueue(cl_command_queue queue, size_t step, cl_event* event) const;
  /// Where a plan tensor lies.
  cl_mem memory(TensorId id) const;

 private:
  /// An argument that follows the memory of a port.
  struct PortArg {
    size_t step = 0;
    cl_uint index = 0;
    size_t port = 0;
    bool output = false;
  };

  explicit PlanExecution(const Plan& plan) : plan_(plan) {}
  Status prepare(const Context& context);
  Status prepare_step(size_t index);
  Status bind(cl_mem& bound, cl_mem memory, bool output, size_t port);

  const Plan& plan_;
  Memory arena_;
  std::vector<Memory> parts_;  ///< by plan tensor: roots in the arena
  std::vector<KernelHandle> kernels_;
  std::vector<PortArg> port_args_;
  std::vector<cl_mem> inputs_;   ///< per port
  std::vector<cl_mem> outputs_;  ///< per port
};

}  // namespace het::gpu
