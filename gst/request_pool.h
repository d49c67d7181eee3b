#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "inference/infer_request.h"
#include "inference/status.h"

namespace het::gst {

/// A request with the times of its last execution.
class TimedRequest {
 public:
  static Result<std::unique_ptr<TimedRequest>> create(CompiledModel& model);

  InferRequest& request() { return *request_; }
  /// Notes the time and starts.
  Status start();
  /// Waits for the end; afterwards run_time() is that of this execution, queueing included.
  Status wait() { return request_->wait(); }
  std::chrono::nanoseconds run_time() const { return ended_ - started_; }

 private:
  TimedRequest() = default;
  std::unique_ptr<InferRequest> request_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point ended_;  ///< written by the completion callback
};

/// The requests of one element. acquire() blocks while all are busy: that is the element's
/// back-pressure. Thread-safe.
class RequestPool {
 public:
  static Result<std::unique_ptr<RequestPool>> create(CompiledModel& model, size_t count);

  size_t size() const { return all_.size(); }
  /// An idle request, or null once the pool is closed.
  TimedRequest* acquire();
  void release(TimedRequest* request);
  /// Gives a request back whose execution was cancelled: it is replaced, because it may still hold
  /// its picture. When that fails the old one stays in use.
  void replace(TimedRequest* request);
  void open();
  /// Wakes acquire().
  void close();

 private:
  explicit RequestPool(CompiledModel& model) : model_(model) {}

  CompiledModel& model_;  ///< kept alive by the requests
  std::mutex mutex_;      ///< protects the members below; taken alone
  std::condition_variable idle_or_closed_;
  std::vector<std::unique_ptr<TimedRequest>> all_;
  std::vector<TimedRequest*> idle_;
  bool closed_ = false;
};

}  // namespace het::gst
