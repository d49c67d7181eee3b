#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/job.h"
#include "serving/launch/launch_settings.h"
#include "serving/launch/plan/launch_plan.h"
#include "serving/launch/report.h"

namespace het::serving {

/// The job of each instance of a plan: its streams with the placeholders of its place filled in,
/// and what is set for the devices of its process: CPU_BIND_THREAD=NO, INFERENCE_NUM_THREADS,
/// WEIGHT_SHARING, and above those what the launch file says.
Result<std::vector<Job>> jobs_of(const LaunchSettings& settings, const LaunchPlan& plan);

/// The streams as they are asked what is in them, before anybody knows where they run: {instance}
/// and {node} stay.
Result<Job> description_job(const LaunchSettings& settings);

/// The files that each instance writes, by the descriptions of the streams. Fails with
/// InvalidArgument when two pipelines would write the same one.
Result<std::vector<std::vector<std::string>>> written_files(
    const LaunchSettings& settings, const LaunchPlan& plan,
    const std::vector<StreamDescription>& descriptions);

}  // namespace het::serving
