#include "inference/devices/profiling.h"

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

}  // namespace het
