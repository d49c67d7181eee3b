#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"
#include "inference/requests/nested_request.h"

namespace het {

class ExclusiveRequest;

/// Runs requests of several compiled models one after the other, in the order of their starts.
/// Nobody waits: what ends a request starts the next one. Thread-safe.
class ExclusiveQueue {
 public:
  /// Starts the thread that ends requests which are cancelled while they wait; again: nothing.
  /// Fails with OutOfMemory when the system gives no more threads.
  Status prepare();

  /// Begins the request now or after those before it.
  void submit(ExclusiveRequest& request);
  /// A request that waits ends as Cancelled, on the queue's thread: the caller may hold a lock that
  /// its end takes.
  void cancel(ExclusiveRequest& request);
  /// The request that runs has ended.
  void end(ExclusiveRequest& request);

 private:
  void remove(ExclusiveRequest& request);

  std::mutex mutex_;  ///< protects the members below and the requests' places; taken alone
  bool is_busy_ = false;
  ExclusiveRequest* first_ = nullptr;
  ExclusiveRequest* last_ = nullptr;
  std::unique_ptr<StreamExecutor> thread_;
};

/// A request of a device's model whose executions wait for their turn.
class ExclusiveRequest final : public DeviceRequest, private CompletionSink, private StreamJob {
 public:
  ExclusiveRequest(ExclusiveQueue& queue, std::unique_ptr<NestedRequest> request)
      : queue_(queue), request_(std::move(request)) {}

  void start(RequestIo& io, CompletionSink& sink) override;
  void cancel() override { queue_.cancel(*this); }
  std::vector<ProfileRow> profiling() const override { return request_->request().profiling(); }
  Tensor own_input(size_t index) const override { return request_->request().input(index); }
  Tensor own_output(size_t index) const override { return request_->request().output(index); }

 private:
  friend class ExclusiveQueue;
  enum class Phase : uint8_t { Starting, Running, Ended };

  /// Begins the execution. True when it has ended before this returns: then the caller handles the
  /// end, so that executions which end at once do not nest. Else it may be gone when this returns.
  bool start_within();
  void complete(Status status) override;
  /// Was cancelled while it waited.
  void run(size_t stream) override;

  ExclusiveQueue& queue_;
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  Status status_;  ///< of the execution that ended
  std::atomic<Phase> phase_ = Phase::Ended;
  std::atomic<bool> is_cancelled_ = false;
  // Protected by the queue's mutex.
  ExclusiveRequest* next_ = nullptr;
  ExclusiveRequest* previous_ = nullptr;
  bool is_waiting_ = false;

  std::unique_ptr<NestedRequest> request_;  // last: its end waits for a running complete()
};

}  // namespace het
