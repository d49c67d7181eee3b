#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "devices/cpu/cpu_compiled_model.h"
#include "devices/cpu/plan/plan_execution.h"
#include "inference/requests/request_io.h"

namespace het::cpu {

/// One request's tensors. Thread-bound to its InferRequest; an execution runs on the thread of
/// whichever stream is free, in the memory of that stream.
class CpuRequest final : public DeviceRequest, private StreamJob {
 public:
  explicit CpuRequest(CpuCompiledModel& model);

  void start(RequestIo& io, CompletionSink& sink) override;
  void start_here(RequestIo& io, CompletionSink& sink) override;
  void cancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  std::vector<ProfileRow> profiling() const override { return rows_; }

 private:
  void begin(RequestIo& io, CompletionSink& sink);
  void run(size_t stream) override;
  /// Of run_steps().
  enum class Outcome : uint8_t {
    Done,
    NotFinite,  ///< NaN or infinities came to a kernel that would spoil them
  };

  Status execute(size_t stream);
  Status bind_ports();
  Result<Outcome> run_plan(const RunnablePlan& plan, PlanExecution& execution);
  Result<Outcome> run_steps(const RunnablePlan& plan, PlanExecution& execution);
  Status deliver_outputs(const Plan& plan, const PlanExecution& execution);

  CpuCompiledModel& model_;
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
