#pragma once

#include <gst/gst.h>

#include <string>

#include "inference/devices/device.h"

namespace het::gst {

/// Posts a warning for a device that the model goes on without, an information for one that it uses
/// again. Their details have the fields model, device and, for the loss, cause.
void post_device_event(GstElement* element, const std::string& model, const DeviceEvent& event);

}  // namespace het::gst
