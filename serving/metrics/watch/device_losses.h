#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <map>
#include <string>

#include "serving/metrics/watch/watched.h"

namespace het::metrics {

/// What inference elements post of devices (gst/elements/device_message). Thread-safe.
namespace device_losses {

/// Looks at a warning or an information; others than those of devices are left alone.
void take(WatchedPipeline& pipeline, GstElement* element, GstMessage* message);

struct Count {
  uint64_t losses = 0;
  uint64_t returns = 0;
};
/// So far, by device.
std::map<std::string, Count> counts();

}  // namespace device_losses
}  // namespace het::metrics
