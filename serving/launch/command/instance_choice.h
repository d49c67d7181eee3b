#pragma once

#include <cstddef>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/launch_settings.h"
#include "serving/launch/plan/launch_plan.h"

namespace het::serving {

/// A number of instances and what it gave.
struct InstanceTrial {
  size_t instances = 0;
  std::vector<double> rounds;  ///< frames per second, of all instances together
  double median = 0;
};

/// The fewest instances whose median is at most 3 % below the best one.
size_t best_instances(const std::vector<InstanceTrial>& trials);

/// Measures each of these numbers of instances, all of them in every round, so that what disturbs
/// the machine for a while meets all; prints a row for each on standard error. `request` has what
/// is to be laid out.
Result<std::vector<InstanceTrial>> try_instances(const LaunchSettings& settings,
                                                 const PlanRequest& request,
                                                 const std::vector<size_t>& counts);

/// Processors that a stream keeps busy, for each that says none itself: plays one after the other
/// alone, on as many processors as an instance of the plan has, for settings.measure_s.
Status measure_costs(const LaunchSettings& settings, const LaunchPlan& plan,
                     std::vector<StreamNeeds>& streams);

}  // namespace het::serving
