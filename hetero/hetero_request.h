#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "hetero/hetero_compiled_model.h"
#include "inference/device.h"
#include "inference/infer_request.h"
#include "inference/status.h"

namespace het::hetero {

/// One execution: a request per subgraph. Each starts on the thread that ended the last subgraph it
/// waited for, so nobody blocks. A tensor that goes from one subgraph to others is the producer's
/// output and the readers' input at once.
class HeteroRequest final : public DeviceRequest {
 public:
  static Result<std::unique_ptr<HeteroRequest>> create(const HeteroCompiledModel& model);
  ~HeteroRequest() override;

  void start(RequestIo& io, CompletionSink& sink) override;
  void cancel() override;
  std::vector<ProfileRow> profiling() const override;
  Tensor own_input(size_t index) const override;
  Tensor own_output(size_t index) const override;

 private:
  struct Part {
    std::unique_ptr<InferRequest> request;
    std::atomic<size_t> waits_for = 0;
    bool ran = false;  ///< in the last execution
  };

  explicit HeteroRequest(const HeteroCompiledModel& model);
  Status share_tensors();
  Status bind(RequestIo& io);
  Status bind_input(RequestIo& io, size_t index);
  void launch(size_t part);
  /// On a device's thread.
  void part_ended(size_t part, const Status& status);
  void fail(size_t part, const Status& status);
  Status hand_over(size_t part);
  Status pass_on(const CutValue& cut);
  void finish();
  Status deliver();
  Result<Tensor> source_tensor(const TensorSource& source) const;

  const HeteroCompiledModel& model_;
  const Split& split_;
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  std::atomic<size_t> running_ = 0;  ///< parts that were started and have not ended
  std::atomic<size_t> ended_ = 0;
  std::atomic<bool> stopped_ = false;  ///< no more parts start
  std::mutex mutex_;                   ///< protects first_error_; taken alone
  Status first_error_;
  std::vector<std::unique_ptr<Part>> parts_;  // last: their ends wait for running callbacks
};

}  // namespace het::hetero
