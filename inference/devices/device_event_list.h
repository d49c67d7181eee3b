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
/// is told once, and a loss again when it comes after the end of those that knew it. Thread-safe.
class JoinedDeviceEvents {
 public:
  /// Its events count from now on; it may end.
  void watch(const std::shared_ptr<const CompiledModel>& model);
  /// Before models may end: what they have not told yet is kept.
  void collect();
  std::vector<DeviceEvent> since(uint64_t& next);

 private:
  struct Watched {
    std::weak_ptr<const CompiledModel> model;
    uint64_t next = 0;
    std::set<std::string> lost;  ///< by what it told
  };
  void ask_models();  ///< under mutex_
  void forget_ended();
  std::mutex mutex_;  ///< protects watched_ and lost_; held while the models are asked
  std::vector<Watched> watched_;
  std::set<std::string> lost_;  ///< told and not back, known to one that has not ended
  DeviceEventList events_;
};

}  // namespace het
