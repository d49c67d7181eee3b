#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/batch/item_flow.h"
#include "hetero/batch/run.h"
#include "hetero/batch/tensors.h"
#include "inference/base/status.h"
#include "inference/devices/deadline_collector.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"

namespace het::hetero {

/// What a BatchCompiledModel is made from.
struct BatchParts {
  std::shared_ptr<CompiledModel> single;   ///< the model as it is, for requests that run alone
  std::shared_ptr<CompiledModel> batched;  ///< the same for `batch` items
  size_t batch = 1;
  std::vector<OutputCut> outputs;  ///< how those of the batched model are taken apart
  std::string device;              ///< the whole name, "BATCH:GPU(8)"
  Properties properties;           ///< as given, validated for `device`
};

/// Shows the model of batch 1; requests that run at the same time share executions of the batched
/// one. Every `batch` requests that were made one after the other have their tensors in common
/// memory, so that a batch of exactly them is executed without a copy.
class BatchCompiledModel final : public CompiledModel {
 public:
  /// Fails with InvalidArgument when the ports of the two models do not fit together.
  static Result<std::shared_ptr<CompiledModel>> create(BatchParts parts);

  Result<std::string> get_property(std::string_view name) const override;
  /// AUTO_BATCH_TIMEOUT.
  Status set_property(const Properties& properties) override;
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override;

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  friend class BatchRequest;
  explicit BatchCompiledModel(BatchParts parts);
  DeadlineCollector& collector() { return *collector_; }
  /// The request waits for others; handed out so early that it ends by `deadline` even if it runs
  /// alone, as far as the last ones that did so tell.
  void collect(BatchRequest& request, DeadlineCollector::Time deadline);
  void note_time_alone(std::chrono::nanoseconds time);
  void forget_request();
  /// On the collector's thread.
  void receive(std::span<CollectedItem* const> items, HandOut cause);
  /// Null when the memory of requests cannot be common. Under `making_`.
  Result<std::shared_ptr<BatchPlace>> take_place();
  /// As many as can be busy at the same time. Under `making_`.
  Status add_runs();

  const BatchParts parts_;
  std::atomic<std::chrono::nanoseconds> time_alone_{std::chrono::nanoseconds(0)};
  std::mutex making_;  ///< protects the next two and serialises making requests; before free_mutex_
  size_t request_count_ = 0;
  std::vector<std::shared_ptr<BatchTensors>> tensors_;
  std::mutex free_mutex_;  ///< protects free_runs_ and runs_; taken last
  std::vector<BatchRun*> free_runs_;
  std::vector<BatchRequest*> received_;  ///< of the collector's thread
  std::vector<std::unique_ptr<BatchRun>> runs_;
  std::unique_ptr<DeadlineCollector> collector_;  // last: its thread uses everything else
};

}  // namespace het::hetero
