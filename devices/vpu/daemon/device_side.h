#pragma once

#include <atomic>

#include "devices/vpu/daemon/delay_line.h"
#include "devices/vpu/daemon/device_model.h"
#include "devices/vpu/daemon/fault_plan.h"
#include "devices/vpu/daemon/profile.h"
#include "devices/vpu/daemon/timer.h"
#include "devices/vpu/daemon/unit_placement.h"
#include "devices/vpu/daemon/units.h"

namespace het::vpu {

/// What all sessions of a device program share. Thread-safe, except what is set before the first.
class DeviceSide {
 public:
  DeviceSide(Profile described, ModelLoader loader,
             std::vector<std::pair<uint64_t, DeviceFault>> planned_faults = {},
             const SimulatedSpeed& simulated = {})
      : profile(std::move(described)),
        load(std::move(loader)),
        speed(simulated),
        faults(std::move(planned_faults)),
        units(profile.units),
        placement(profile) {}

  /// As a host that shares memory or not sees the device.
  Welcome welcome(bool takes_shared_memory) const;
  /// Temperatures are emulated: 40 degrees without work, 85 at full load, 95 throttled.
  Telemetry telemetry();

  const Profile profile;
  const ModelLoader load;
  const SimulatedSpeed speed;
  FaultPlan faults;
  Units units;
  UnitPlacement placement;
  std::atomic<bool> is_ending{false};  ///< the program ends: who hangs goes on
  std::atomic<bool> is_throttled{false};
  Timer timer;  ///< last: what it calls uses the others
};

}  // namespace het::vpu
