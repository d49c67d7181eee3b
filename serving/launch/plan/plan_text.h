#pragma once

#include <string>

#include "serving/launch/plan/launch_plan.h"

namespace het::serving {

/// A plan for people: a line an instance, one a stream, one a note; with the processors and the
/// quota that it keeps to.
std::string plan_text(const PlanRequest& request, const LaunchPlan& plan);

/// The same as a JSON object, with the end of a line.
std::string plan_json(const PlanRequest& request, const LaunchPlan& plan);

}  // namespace het::serving
