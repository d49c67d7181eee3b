#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "inference/base/status.h"
#include "inference/requests/infer_request.h"
#include "stream_shares.h"

namespace het::gst {

/// A request with the times of its last execution.
class TimedRequest {
 public:
  /// `share` may be null; it outlives the request.
  static Result<std::unique_ptr<TimedRequest>> create(CompiledModel& model,
                                                      const std::string& stream,
                                                      StreamShare* share);

  InferRequest& request() { return *current_; }
  /// From now on request() is one of this model, which is made when it is first used: the model
  /// that the pool is for, or its twin of another width. It uses the state of `stream`.
  Status use(CompiledModel& model, const std::string& stream);
  /// Notes the time, waits for the stream's turn with a frame of this time (see
  /// StreamShare::enter()) and starts; false: closed before the turn came.
  Result<bool> start(uint64_t frame_time = kNoFrameTime);
  /// Waits for the end; afterwards run_time() is that of this execution, queueing included.
  Status wait() { return current_->wait(); }
  /// When the execution was handed to the device.
  std::chrono::steady_clock::time_point submitted() const { return submitted_; }
  std::chrono::nanoseconds run_time() const { return ended_ - started_; }
  std::chrono::steady_clock::time_point ended() const { return ended_; }

 private:
  struct Made {
    std::unique_ptr<InferRequest> request;
    std::string stream;  ///< the last one it was told
  };

  TimedRequest() = default;
  Status make(CompiledModel& model);

  std::map<const CompiledModel*, Made> requests_;
  InferRequest* current_ = nullptr;
  StreamShare* share_ = nullptr;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point submitted_;
  std::chrono::steady_clock::time_point ended_;  ///< written by the completion callback
};

/// The requests of one element. acquire() blocks while all are busy: that is the element's
/// back-pressure. Thread-safe.
class RequestPool {
 public:
  /// `stream` is whose state the requests use at first, see InferRequest::set_stream(); `share` is
  /// its part of a model that others use too, else null.
  static Result<std::unique_ptr<RequestPool>> create(CompiledModel& model, size_t count,
                                                     std::string stream,
                                                     std::unique_ptr<StreamShare> share = nullptr);

  size_t size() const { return all_.size(); }
  /// An idle request, or null once the pool is closed.
  TimedRequest* acquire();
  bool has_idle() const;
  size_t busy() const;
  void release(TimedRequest* request);
  /// Gives a request back whose execution was cancelled: it is replaced, because it may still hold
  /// its picture. When that fails the old one stays in use.
  void replace(TimedRequest* request);
  void set_weight(double weight);
  void open();
  /// Wakes acquire() and a start that waits for its turn.
  void close();

 private:
  RequestPool(CompiledModel& model, std::string stream, std::unique_ptr<StreamShare> share)
      : model_(model), stream_(std::move(stream)), share_(std::move(share)) {}

  CompiledModel& model_;  ///< kept alive by the requests
  const std::string stream_;
  const std::unique_ptr<StreamShare> share_;
  mutable std::mutex mutex_;  ///< protects the members below; taken alone
  std::condition_variable idle_or_closed_;
  std::vector<std::unique_ptr<TimedRequest>> all_;
  std::vector<TimedRequest*> idle_;
  bool closed_ = false;
};

}  // namespace het::gst
