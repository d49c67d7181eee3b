#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "inference/devices/device.h"

namespace het {

/// What CompiledModel::device_events() tells; the oldest are forgotten. Thread-safe.
class DeviceEventList {
 public:
  void add(DeviceEvent event);
  std::vector<DeviceEvent> since(uint64_t& next) const;

 private:
  static constexpr size_t kKept = 64;
  std::atomic<uint64_t> count_ = 0;
  mutable std::mutex mutex_;  ///< protects events_ and changes of count_; taken alone
  std::deque<DeviceEvent> events_;
};

/// The same of several models on one device as if they were one: what all of them learn of a member
/// is told once. Thread-safe.
class JoinedDeviceEvents {
 public:
  /// Its events count from now on; it may end.
  void watch(const std::shared_ptr<const CompiledModel>& model);
  std::vector<DeviceEvent> since(uint64_t& next);

 private:
  struct Watched {
    std::weak_ptr<const CompiledModel> model;
    uint64_t next = 0;
  };
  std::mutex mutex_;  ///< protects watched_ and lost_; held while the models are asked
  std::vector<Watched> watched_;
  std::set<std::string> lost_;
  DeviceEventList events_;
};

}  // namespace het
