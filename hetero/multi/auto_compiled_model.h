#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/members/device_events.h"
#include "hetero/multi/dispatcher.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"
#include "inference/devices/stream_executor.h"
#include "inference/model/model.h"

namespace het::hetero {

/// A device that AUTO may choose.
struct AutoCandidate {
  std::string name;
  std::shared_ptr<Device> device;
  std::optional<size_t> limit;
  Properties properties;  ///< that it compiles with
};

/// What an AutoCompiledModel is made from.
struct AutoParts {
  std::string device;                    ///< the whole name with the devices, "AUTO:GPU,CPU"
  Properties properties;                 ///< as given, validated for `device`
  AutoCandidate current;                 ///< runs requests at once
  std::shared_ptr<CompiledModel> model;  ///< on it
  std::vector<AutoCandidate> better;  ///< of which the first that compiles takes over; may be empty
  std::vector<AutoCandidate> others;  ///< that may stand in for one that fails, in their order
  std::unique_ptr<Model> source;      ///< for these
  std::shared_ptr<DeviceEvents> events;
};

/// A model on one device. While a better one compiles, on a thread of its own, requests run on
/// another; then new ones go to the better one, and the first model is let go when the last
/// request there has ended. While the device has failed, another stands in for it. Destroying it
/// waits for a compile that is under way.
class AutoCompiledModel final : public CompiledModel, private StreamJob {
 public:
  static Result<std::shared_ptr<CompiledModel>> create(AutoParts parts);
  ~AutoCompiledModel() override;

  /// EXECUTION_DEVICES is in brackets, "(CPU)", as long as another device may take over.
  Result<std::string> get_property(std::string_view name) const override;
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override;
  std::vector<DeviceEvent> device_events(uint64_t& next) const override {
    return events_->since(next);
  }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  explicit AutoCompiledModel(AutoParts parts);
  Result<std::string> member_property(const MemberProperty& property) const;
  std::shared_ptr<CompiledModel> current_model() const;
  size_t wanted_requests() const;
  class StandInJob;
  /// On the thread that compiles.
  void run(size_t stream) override;
  Status take_over(const AutoCandidate& candidate);
  /// The device runs nothing now; on a thread that ends executions.
  void lose(const std::string& device, const Status& cause);
  /// It works again.
  void take_back(const std::string& device);
  /// On the thread that compiles: another device for the one that is lost.
  void stand_in();
  Result<std::shared_ptr<CompiledModel>> compiled_for(const AutoCandidate& candidate);

  const std::string device_;
  const Properties properties_;
  const std::vector<AutoCandidate> better_;
  const std::vector<AutoCandidate> others_;
  const std::shared_ptr<DeviceEvents> events_;
  std::atomic<bool> is_stopping_ = false;
  mutable std::mutex mutex_;  ///< protects the next five; taken alone
  std::string current_;       ///< the device that new requests run on
  std::shared_ptr<CompiledModel> model_;
  bool is_settled_ = false;  ///< no better device will take over
  std::string lost_;         ///< the device that another shall stand in for; empty: none
  std::string stand_in_;     ///< that does; empty: not yet
  const std::unique_ptr<Model> source_;
  /// Of the thread that compiles: models that stand in, kept for the next time.
  std::map<std::string, std::shared_ptr<CompiledModel>> stand_ins_;
  std::unique_ptr<StandInJob> stand_in_job_;
  std::unique_ptr<MultiDispatcher> dispatcher_;
  std::unique_ptr<StreamExecutor> compiler_;  // last: its job uses everything else
};

}  // namespace het::hetero
