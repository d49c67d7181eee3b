#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "hetero/batch/tensors.h"
#include "inference/devices/deadline_collector.h"
#include "inference/devices/device.h"
#include "inference/requests/nested_request.h"
#include "inference/requests/request_io.h"

namespace het::hetero {

class BatchCompiledModel;

/// One request of a BatchCompiledModel. Waits in the model's collector until a batch is full, which
/// a BatchRun then executes, or until the time is over: then it runs alone.
class BatchRequest final : public DeviceRequest, public CollectedItem, private CompletionSink {
 public:
  /// `place` may be null; `alone` is on the model of batch 1.
  BatchRequest(BatchCompiledModel& model, const std::shared_ptr<BatchPlace>& place,
               std::unique_ptr<NestedRequest> alone);
  ~BatchRequest() override;

  void start(RequestIo& io, CompletionSink& sink) override;
  /// One that waits ends at once, on the collector's thread. A batch that runs is executed to its
  /// end for the others.
  void cancel() override;
  /// Times in a batch are those of the whole batch.
  std::vector<ProfileRow> profiling() const override;
  Tensor own_input(size_t port) const override { return own_inputs_[port]; }
  Tensor own_output(size_t port) const override { return own_outputs_[port]; }

  /// Called by the collector's receiver: the request runs on the model of batch 1.
  void run_alone();

  /// What a BatchRun asks and says.
  RequestIo& io() { return *io_; }
  BatchTensors* tensors() const { return place_ ? place_->tensors().get() : nullptr; }
  size_t item() const { return place_->item(); }
  /// True while the request has the tensor that it was made with.
  bool has_own_input(size_t port) const;
  bool has_own_output(size_t port) const;
  void set_next(BatchRequest* next) { next_ = next; }
  BatchRequest* next() const { return next_; }
  void end_in_batch(const Status& status, const std::vector<ProfileRow>& rows);

 private:
  void complete(Status status) override;

  BatchCompiledModel& model_;
  std::shared_ptr<BatchPlace> place_;
  std::vector<Tensor> own_inputs_;
  std::vector<Tensor> own_outputs_;
  std::atomic<bool> cancelled_{false};
  RequestIo* io_ = nullptr;         ///< of the running execution
  CompletionSink* sink_ = nullptr;  ///< of the running execution
  BatchRequest* next_ = nullptr;    ///< in a batch that ends
  bool ran_in_batch_ = false;
  std::chrono::steady_clock::time_point began_;  ///< of the execution alone
  std::vector<ProfileRow> rows_;                 ///< of the last execution in a batch
  std::unique_ptr<NestedRequest> alone_;
};

}  // namespace het::hetero
