#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "devices/vpu/shared_memory.h"
#include "devices/vpu/vpu_compiled_model.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"
#include "inference/requests/request_io.h"

namespace het::vpu {

/// One request of a VpuCompiledModel. Its inputs and outputs lie in memory that the device sees, so
/// that nothing is copied unless the application brings tensors of its own. What is ready is sent
/// by the thread that starts it.
class VpuRequest final : public DeviceRequest, private StreamJob, private Submission {
 public:
  static Result<std::unique_ptr<VpuRequest>> create(VpuCompiledModel& model);
  ~VpuRequest() override;

  void start(RequestIo& io, CompletionSink& sink) override;
  void cancel() override;
  std::vector<ProfileRow> profiling() const override { return rows_; }
  Tensor own_input(size_t port) const override { return inputs_[port]; }
  Tensor own_output(size_t port) const override { return outputs_[port]; }

 private:
  explicit VpuRequest(VpuCompiledModel& model) : model_(model) {}
  Status allocate();
  /// On the host's stream: everything that takes time before the device can begin.
  void run(size_t stream) override;
  Status make_ready();
  Status map_memory(const LoadedModel& loaded);
  Status write_payload();
  void end(Status status, const Completed& completed) override;
  bool is_cancelled() const override { return cancelled_; }
  Status take_outputs(const Completed& completed);
  bool shares_memory() const { return to_.connection->welcome().takes_shared_memory; }
  void finish(Status status);

  VpuCompiledModel& model_;
  std::shared_ptr<SharedMemory> memory_;
  std::vector<Tensor> inputs_;      ///< in memory_
  std::vector<Tensor> outputs_;     ///< in memory_
  LoadedModel to_;                  ///< where memory_ is mapped
  uint32_t memory_number_ = 0;      ///< of memory_ there
  RequestIo* io_ = nullptr;         ///< of the running execution
  CompletionSink* sink_ = nullptr;  ///< of the running execution
  std::atomic<bool> cancelled_{false};
  std::vector<ProfileRow> rows_;
  using Clock = std::chrono::steady_clock;
  Clock::time_point sent_;      ///< to the connection
  Clock::duration prepared_{};  ///< what came before
};

}  // namespace het::vpu
