#pragma once

#include <string>
#include <vector>

namespace het::self_test {

struct SelfTestOptions {
  std::string device;      ///< empty: all that there are
  std::string json;        ///< a file for everything as JSON; empty for none
  std::string video_node;  ///< a render node; empty: those of /dev/dri
  std::vector<std::string> device_libraries;
};

/// Tries everything, each part in a process of its own, prints the report and returns the exit
/// status: 0 when all devices that are there are right.
int run_self_test(const SelfTestOptions& options);

}  // namespace het::self_test
