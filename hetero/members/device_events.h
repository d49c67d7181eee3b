#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "inference/devices/device_event_list.h"

namespace het::hetero {

/// Devices that a model lost and took back: told and logged. Thread-safe.
class DeviceEvents {
 public:
  DeviceEvents(std::string model, std::string device)
      : model_(std::move(model)), device_(std::move(device)) {}

  void add(DeviceEvent event);
  std::vector<DeviceEvent> since(uint64_t& next) const { return list_.since(next); }

 private:
  const std::string model_;
  const std::string device_;  ///< whole: "HETERO:GPU,CPU"
  DeviceEventList list_;
};

}  // namespace het::hetero
