#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "devices/gpu/gpu_compiled_model.h"
#include "devices/gpu/kernels/windows/picture_kernel.h"
#include "devices/gpu/memory/application_queues.h"
#include "devices/gpu/memory/port_memory.h"
#include "devices/gpu/plan/plan_execution.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"
#include "inference/requests/request_io.h"

namespace het::gpu {

/// One request of a GpuCompiledModel. A stream's thread prepares its pictures and enqueues all its
/// commands without waiting for any; the driver, or a thread that waits, says when the last one
/// ended.
class GpuRequest final : public DeviceRequest, private StreamJob {
 public:
  static Result<std::unique_ptr<DeviceRequest>> create(GpuCompiledModel& model);

  void start(RequestIo& io, CompletionSink& sink) override;
  /// Takes effect until all commands are enqueued: what a queue has, runs.
  void cancel() override { cancelled_ = true; }
  std::vector<ProfileRow> profiling() const override { return rows_; }

 private:
  /// Ends the execution from a thread that waits (GPU_COMPLETION=WAIT).
  class Waiter final : public StreamJob {
   public:
    explicit Waiter(GpuRequest& request) : request_(request) {}
    void run(size_t stream) override;

   private:
    GpuRequest& request_;
  };

  explicit GpuRequest(GpuCompiledModel& model) : model_(model) {}
  Status prepare();
  void run(size_t stream) override;
  Status check_cancelled() const;
  Status enqueue(cl_command_queue queue);
  Status bind_input(cl_command_queue queue, size_t port);
  Status convert_pictures(cl_command_queue queue, size_t port, std::vector<ImageRegion> pictures);
  Status bind_output(size_t port);
  Status read_output(cl_command_queue queue, size_t port);
  Status finish_outputs();
  void release();
  void read_times();
  void complete(cl_int execution_status);
  void finish(Status status);
  static void CL_CALLBACK on_complete(cl_event event, cl_int status, void* request);

  GpuCompiledModel& model_;
  std::unique_ptr<PlanExecution> execution_;
  std::atomic<bool> cancelled_{false};
  RequestIo* io_ = nullptr;         ///< of the running execution
  CompletionSink* sink_ = nullptr;  ///< of the running execution
  std::vector<PortMemory> inputs_;
  std::vector<PortMemory> outputs_;
  std::vector<std::unique_ptr<PictureKernel>> picture_kernels_;  ///< per input; null for none
  ApplicationQueues application_queues_;
  Status begun_;      ///< of application_queues_
  EventHandle last_;  ///< of the last command
  Waiter waiter_{*this};
  std::vector<EventHandle> picture_events_;  ///< when profiled
  std::vector<EventHandle> events_;          ///< per step, when profiled
  std::vector<ProfileRow> rows_;
};

}  // namespace het::gpu
