#include "devices/vpu/daemon/device_side.h"

#include "devices/vpu/link_frame.h"

namespace het::vpu {
namespace {

constexpr char kFirmware[] = "hetero-vpud 0.1";
constexpr int32_t kIdleMillidegrees = 40000;
constexpr int32_t kBusyMillidegrees = 85000;
constexpr int32_t kThrottledMillidegrees = 95000;

}  // namespace

Welcome DeviceSide::welcome(bool takes_shared_memory) const {
  Welcome welcome;
  welcome.version = kProtocolVersion;
  welcome.profile = profile.name;
  welcome.firmware = kFirmware;
  if (!profile.bitstream.empty()) welcome.firmware += ", bitstream " + profile.bitstream;
  welcome.credits = profile.credits;
  welcome.units = profile.units;
  welcome.memory_bytes = profile.memory_bytes;
  welcome.takes_shared_memory = takes_shared_memory;
  welcome.counts_nodes = profile.counts_nodes;
  welcome.types = profile.types;
  welcome.operators = profile.operators;
  return welcome;
}

Telemetry DeviceSide::telemetry() {
  Telemetry telemetry;
  telemetry.is_throttled = is_throttled;
  const std::vector<Units::Load> loads = units.loads();
  const std::vector<UnitPlacement::Unit> places = placement.units();
  for (size_t i = 0; i < loads.size(); ++i) {
    Telemetry::Unit& unit = telemetry.units.emplace_back();
    unit.tag = places[i].tag;
    unit.memory_used = places[i].memory_used;
    unit.models = places[i].models;
    unit.executions = loads[i].executions;
    unit.utilisation_permille = static_cast<uint32_t>(1000 * loads[i].utilisation);
    unit.millidegrees =
        telemetry.is_throttled
            ? kThrottledMillidegrees
            : kIdleMillidegrees + static_cast<int32_t>((kBusyMillidegrees - kIdleMillidegrees) *
                                                       loads[i].utilisation);
  }
  return telemetry;
}

}  // namespace het::vpu
