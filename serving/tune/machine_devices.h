#pragma once

#include <string>
#include <vector>

namespace het::serving {

/// The devices of this machine, asked in a process of their own: looking for some starts threads,
/// and this program starts processes.
std::vector<std::string> machine_devices();

}  // namespace het::serving
