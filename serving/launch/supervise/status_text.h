#pragma once

#include <string>
#include <vector>

#include "serving/launch/supervise/launch_status.h"

namespace het::serving {

/// Launches as a table for people, an instance a row, and what is wrong with streams below it.
/// Memory is the share of each process (PSS), read now.
std::string status_text(const std::vector<LaunchStatus>& launches);

}  // namespace het::serving
