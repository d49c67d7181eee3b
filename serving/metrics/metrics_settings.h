#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace het::metrics {

/// What GST_TRACERS="heterometrics(port=9464,latency=pipeline+element)" says.
struct MetricsSettings {
  uint16_t port = 9464;  ///< 0: any that is free
  std::string address = "127.0.0.1";
  bool measures_pipelines = false;  ///< latency=pipeline
  bool measures_elements = false;   ///< latency=element
  double stall_s = 10;              ///< stall=SECONDS: without a frame at a sink it is not ready

  std::vector<std::string> refused;  ///< what is wrong and has no effect, for the user
};

/// Null: nothing is set.
MetricsSettings read_settings(const char* parameters);

}  // namespace het::metrics
