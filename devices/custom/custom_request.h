#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "devices/custom/custom_compiled_model.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"
#include "inference/requests/request_io.h"

namespace het::custom {

/// One request of a CustomCompiledModel. The library gets the request's tensors as they are; those
/// that are not dense, aligned and in host memory go through copies on the host's stream.
class CustomRequest final : public DeviceRequest, private StreamJob {
 public:
  static Result<std::unique_ptr<CustomRequest>> create(CustomCompiledModel& model);
  ~CustomRequest() override;

  void start(RequestIo& io, CompletionSink& sink) override;
  void cancel() override;
  std::vector<ProfileRow> profiling() const override;

 private:
  /// What the host's stream has to do.
  enum class Job : uint8_t { Prepare, Deliver };

  explicit CustomRequest(CustomCompiledModel& model);
  const HetCustomDevice& table() const { return model_.device().table(); }
  const Tensor& tensor(size_t place) const;
  void run(size_t stream) override;
  Status prepare();
  /// Describes the tensors and hands the execution to the library.
  void launch();
  static void complete(void* context, uint64_t number, int32_t code, const char* message);
  Status outcome(int32_t code, const char* message) const;
  Status deliver();
  void finish(Status status);

  CustomCompiledModel& model_;
  void* handle_ = nullptr;
  bool has_handle_ = false;
  /// Inputs, then outputs.
  std::vector<HetDeviceTensor> tensors_;
  std::vector<const HetDeviceTensor*> tensor_pointers_;
  std::vector<Tensor> copies_;  ///< made when they are needed first
  std::vector<bool> is_copied_;
  HetDeviceExecution execution_{};
  RequestIo* io_ = nullptr;         ///< of the running execution
  CompletionSink* sink_ = nullptr;  ///< of the running execution
  Job job_ = Job::Prepare;
  Status status_;  ///< for Job::Deliver
  std::atomic<bool> cancelled_{false};
  /// The execution that the library has; 0: none.
  std::atomic<uint64_t> running_{0};
};

}  // namespace het::custom
