#include "inference/devices/profiling.h"

#include "inference/model/model.h"

namespace het {

std::string_view to_string(ProfileStatus status) {
  switch (status) {
    case ProfileStatus::NotRun:
      return "NOT_RUN";
    case ProfileStatus::OptimizedOut:
      return "OPTIMIZED_OUT";
    case ProfileStatus::Executed:
      return "EXECUTED";
  }
  return "UNKNOWN";
}

StepName step_name(const Node& node) {
  StepName made{node.name(), node.op_type(), {}};
  for (const std::string& name : node.original_names()) {
    if (name != node.name()) made.fused_names.push_back(name);
  }
  return made;
}

}  // namespace het
