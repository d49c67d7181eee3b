#pragma once

#include <vector>

#include "serving/launch/launch_settings.h"
#include "serving/launch/plan/launch_plan.h"
#include "serving/launch/report.h"

namespace het::serving {

/// What each stream of the settings needs, by what it says itself and by what is in its pipeline.
std::vector<StreamNeeds> stream_needs(const LaunchSettings& settings,
                                      const std::vector<StreamDescription>& descriptions);

}  // namespace het::serving
