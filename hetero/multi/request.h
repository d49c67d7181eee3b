#pragma once

#include <vector>

#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"
#include "inference/requests/request_io.h"

namespace het::hetero {

class MultiDispatcher;
class MultiWorker;

/// One request of MULTI or AUTO: runs on whatever device the dispatcher gives it.
class MultiRequest final : public DeviceRequest, private StreamJob {
 public:
  /// The dispatcher outlives the request.
  explicit MultiRequest(MultiDispatcher& dispatcher) : dispatcher_(dispatcher) {}

  void start(RequestIo& io, CompletionSink& sink) override;
  /// One that waits is taken out at once, and ends on a thread of the dispatcher.
  void cancel() override;
  /// Of the worker that ran.
  std::vector<ProfileRow> profiling() const override { return rows_; }

 private:
  friend class MultiDispatcher;
  friend class MultiWorker;
  /// It was cancelled while it waited.
  void run(size_t stream) override;

  MultiDispatcher& dispatcher_;
  RequestIo* io_ = nullptr;         ///< of the running execution
  CompletionSink* sink_ = nullptr;  ///< of the running execution
  std::vector<ProfileRow> rows_;    ///< of the last execution
  // The dispatcher's, under its mutex.
  MultiRequest* next_ = nullptr;  ///< among those that wait
  MultiRequest* previous_ = nullptr;
  bool is_waiting_ = false;
  bool is_cancelled_ = false;
  MultiWorker* worker_ = nullptr;  ///< that runs it and may be cancelled
};

}  // namespace het::hetero
