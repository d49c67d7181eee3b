#pragma once

#include <atomic>
#include <vector>

#include "devices/ref/ref_compiled_model.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"
#include "inference/requests/request_io.h"

namespace het::ref {

/// One request of a RefCompiledModel: a job for its streams that runs the steps one by one.
class RefRequest final : public DeviceRequest, private StreamJob {
 public:
  explicit RefRequest(const RefCompiledModel& model) : model_(model) {}

  void start(RequestIo& io, CompletionSink& sink) override;
  /// Takes effect between two nodes.
  void cancel() override { cancelled_ = true; }
  std::vector<ProfileRow> profiling() const override { return rows_; }

 private:
  void run(size_t stream) override;
  Status execute();
  Status bind_inputs();
  Status run_step(const Step& step);
  Status deliver_outputs();

  const RefCompiledModel& model_;
  std::atomic<bool> cancelled_{false};
  RequestIo* io_ = nullptr;         ///< of the running execution
  CompletionSink* sink_ = nullptr;  ///< of the running execution
  std::vector<Tensor> tensors_;     ///< per slot
  std::vector<ProfileRow> rows_;
};

}  // namespace het::ref
