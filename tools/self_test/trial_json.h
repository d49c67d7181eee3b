#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "inference/devices/device_trials.h"

namespace het::self_test {

/// [{"name", "outcome", "detail"}]; outcome is "not there", "not tried", "works" or "fails".
nlohmann::json features_json(const std::vector<FeatureTrial>& features);
/// Drivers and devices, without what was tried.
nlohmann::json listing_json(const DeviceListing& listing);
nlohmann::json display_json(const DisplayTrial& display);

}  // namespace het::self_test
