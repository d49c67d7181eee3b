#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "devices/cpu/cpu_compiled_model.h"
#include "inference/request_io.h"

namespace het::cpu {

/// One request's memory and pointers. Thread-bound to its InferRequest; an execution runs on the
/// thread of whichever stream is free.
class CpuRequest final : public DeviceRequest, private StreamJob {
 public:
  static Result<std::unique_ptr<DeviceRequest>> create(CpuCompiledModel& model);

  void start(RequestIo& io, CompletionSink& sink) override;
  void cancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  std::vector<ProfileRow> profiling() const override { return rows_; }

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

  explicit CpuRequest(CpuCompiledModel& model) : model_(model) {}
  Status prepare();
  void add_pointer(TensorId id);
  void run(size_t stream) override;
  Status execute();
  Status bind_ports();
  Status run_steps();
  Status deliver_outputs();
  /// Host address of a plan tensor during an execution; null for Dynamic.
  std::byte* address(TensorId id) const;

  CpuCompiledModel& model_;
  BufferPtr arena_;
  BufferPtr scratch_;
  std::vector<std::byte*> pointers_;
  std::vector<StepPointers> step_pointers_;
  std::vector<PortPointer> port_pointers_;
  std::vector<std::unique_ptr<KernelState>> states_;
  std::vector<Tensor> dynamic_;         ///< by plan tensor; empty unless Dynamic
  std::vector<std::byte*> inputs_;      ///< per port: where this execution reads
  std::vector<std::byte*> outputs_;     ///< per port: where this execution writes
  std::vector<Tensor> staged_inputs_;   ///< dense copies of strided inputs
  std::vector<Tensor> staged_outputs_;  ///< dense memory behind strided outputs
  std::vector<ProfileRow> rows_;
  std::atomic<bool> cancelled_{false};
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
};

}  // namespace het::cpu
