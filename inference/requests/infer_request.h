#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/base/profiler_task.h"
#include "inference/base/visibility.h"
#include "inference/devices/device.h"
#include "inference/requests/request_io.h"

namespace het {

/// One execution of a compiled model at a time, with tensors of its own; reusable and
/// asynchronous. Thread-compatible, except cancel() and wait(), which any thread may call. The
/// destructor cancels and waits.
class HET_API InferRequest final : private CompletionSink {
 public:
  /// Called on a device thread when an execution ends; must be short and must not destroy the
  /// request. It may call start_async() again.
  using Callback = std::function<void(const Status& status)>;

  static Result<std::unique_ptr<InferRequest>> create(std::shared_ptr<CompiledModel> model);
  ~InferRequest();
  InferRequest(const InferRequest&) = delete;
  InferRequest& operator=(const InferRequest&) = delete;

  /// Uses the caller's tensor for an input or output; type and shape must match the port.
  Status set_input(size_t index, Tensor tensor);
  Status set_output(size_t index, Tensor tensor);
  /// The same by port name.
  Status set_tensor(std::string_view port, Tensor tensor);
  /// Fills batch item `batch_index` of an input from a part of a picture, as the port's
  /// PreprocessDesc says. Conversion happens on the device, when the execution starts; the
  /// picture is let go of right after it.
  Status set_image(size_t index, Image image, const Rect& roi, size_t batch_index = 0);

  /// Names the stream whose state (ReadValue, Assign) executions use; "" at first. Requests of one
  /// stream see each other's state and run one after the other, in the order of their starts.
  void set_stream(std::string stream) { io_.set_stream(std::move(stream)); }
  /// The number of the frame that the next executions belong to, in reports of frame_span.h.
  void set_frame(uint64_t frame) { io_.set_frame(frame); }

  /// When the results of the next executions are wanted. A device that gathers requests (BATCH)
  /// runs this one early enough for it, as far as it knows how long that takes; others do as
  /// always.
  void set_deadline(std::chrono::steady_clock::time_point when) { io_.set_deadline(when); }

  const Tensor& input(size_t index) const { return io_.input(index); }
  const Tensor& output(size_t index) const { return io_.output(index); }
  std::span<const Tensor> outputs() const { return io_.outputs(); }
  Result<Tensor> tensor(std::string_view port) const;

  /// Runs and waits.
  Status infer();
  /// Begins an execution; never blocks on other requests' work. Fails with Busy while running.
  Status start_async();
  /// Waits for the end of the running execution (or returns the last result at once) and for its
  /// callback, and returns the execution's Status.
  Status wait();
  /// The same with a limit; TimedOut leaves the execution running.
  Status wait_for(std::chrono::milliseconds timeout);
  /// The running execution ends as soon as the device can, with Cancelled; no effect otherwise.
  void cancel();
  void set_callback(Callback callback);

  std::vector<ProfileRow> profiling() const;
  const CompiledModel& compiled_model() const { return *model_; }

 private:
  InferRequest(std::shared_ptr<CompiledModel> model, std::unique_ptr<DeviceRequest> request,
               RequestIo io);
  /// Fails while one is running.
  Status begin_execution();
  void complete(Status status) override;
  Status check_idle(std::string_view action) const;
  void report_spans();

  std::shared_ptr<CompiledModel> model_;
  RequestIo io_;
  std::unique_ptr<DeviceRequest> request_;
  Callback callback_;
  const ProfilerTask task_;

  mutable std::mutex mutex_;  ///< protects the members below; taken alone
  std::condition_variable ended_;
  uint64_t starts_ = 0;      ///< of all time; tells the profilers' tasks apart
  unsigned executions_ = 0;  ///< running executions plus callbacks that have not returned
  bool running_ = false;
  Status last_status_;
  std::string device_;  ///< for spans, read from the model for the first one
};

}  // namespace het
