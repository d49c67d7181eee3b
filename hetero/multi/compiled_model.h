#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/members/device_events.h"
#include "hetero/multi/dispatcher.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"

namespace het::hetero {

/// The whole model on one device.
struct MultiMember {
  std::string device;
  std::shared_ptr<CompiledModel> model;
  size_t limit = 1;         ///< requests that it runs at the same time
  size_t memory_kinds = 1;  ///< how many kinds of memory the device takes
};

/// What a MultiCompiledModel is made from.
struct MultiParts {
  std::string device;                ///< the whole name, "MULTI:GPU(2),CPU"
  std::vector<MultiMember> members;  ///< with the same ports, in the order of priority
  Properties properties;             ///< as given, validated for `device`
  std::shared_ptr<DeviceEvents> events;
};

/// Fails with NotSupported when the two differ in number, types or shapes of their ports.
Status check_same_ports(const CompiledModel& first, const CompiledModel& other);

/// The whole model on several devices: every request runs on one of them.
class MultiCompiledModel final : public CompiledModel {
 public:
  static Result<std::shared_ptr<CompiledModel>> create(MultiParts parts);

  Result<std::string> get_property(std::string_view name) const override;
  /// MULTI_DEVICE_PRIORITIES: some of the devices that the model was compiled for, in any order.
  Status set_property(const Properties& properties) override;
  /// Of the device that takes most kinds of memory: the others read its host memory as well.
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override;
  std::vector<DeviceEvent> device_events(uint64_t& next) const override {
    return parts_.events->since(next);
  }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  explicit MultiCompiledModel(MultiParts parts);
  Result<std::string> member_property(const MemberProperty& property) const;

  const MultiParts parts_;
  mutable std::mutex mutex_;  ///< protects priorities_; before the dispatcher's
  std::string priorities_;    ///< the list as the user wrote it last
  std::unique_ptr<MultiDispatcher> dispatcher_;
};

}  // namespace het::hetero
