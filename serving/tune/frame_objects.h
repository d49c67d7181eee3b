#pragma once

#include <gst/gst.h>

#include <vector>

#include "serving/launch/report.h"

namespace het::serving {

/// The regions of interest of a frame, by GStreamer's own interface.
std::vector<RecordedFrame::Object> frame_objects(GstBuffer* buffer);

}  // namespace het::serving
