#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "inference/device.h"

namespace het::hetero {

/// What CompiledModel::device_events() tells; the oldest are forgotten. Thread-safe.
class DeviceEvents {
 public:
  DeviceEvents(std::string model, std::string device)
      : model_(std::move(model)), device_(std::move(device)) {}

  /// Logs it, too.
  void add(DeviceEvent event);
  std::vector<DeviceEvent> since(uint64_t& next) const;

 private:
  static constexpr size_t kKept = 64;
  const std::string model_;
  const std::string device_;  ///< whole: "HETERO:GPU,CPU"
  std::atomic<uint64_t> count_ = 0;
  mutable std::mutex mutex_;  ///< protects events_ and changes of count_; taken alone
  std::deque<DeviceEvent> events_;
};

}  // namespace het::hetero
