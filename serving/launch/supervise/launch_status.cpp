#include "serving/launch/supervise/launch_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace het::serving {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InstanceStatus::Stream, name, state, frames, runs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InstanceStatus, name, state, pid, numa_nodes, processors, runs,
                                   frames, frames_per_s, cpu_s, last_end, streams)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LaunchStatus, name, pid, running_s, instances)

std::string LaunchStatus::to_json() const {
  return nlohmann::json(*this).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<LaunchStatus> LaunchStatus::parse(std::string_view json) {
  try {
    return nlohmann::json::parse(json).get<LaunchStatus>();
  } catch (const nlohmann::json::exception& failure) {
    return error(StatusCode::ParseError, "this is no status of hetero launch: {}", failure.what());
  }
}

bool LaunchStatus::is_well() const {
  return std::ranges::all_of(instances, [](const InstanceStatus& instance) {
    const auto is_well = [](const std::string& state) {
      return state == "playing" || state == "ended";
    };
    return is_well(instance.state) &&
           std::ranges::all_of(instance.streams, is_well, &InstanceStatus::Stream::state);
  });
}

std::string status_json(const std::vector<LaunchStatus>& launches) {
  return nlohmann::json(launches).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace het::serving
