#pragma once

#include <gst/video/video.h>

#include "inference/tensors/image.h"

namespace het::gst {

/// Adds a region without params, id (0) and parent (-1) to a writable buffer: a
/// GstVideoRegionOfInterestMeta for everyone who looks for one. Its implementation is ours, because
/// that of GStreamer (1.22, 1.26) loses the params when a frame is scaled or its format changes
/// (videoscale, videoconvert).
GstVideoRegionOfInterestMeta* add_region_of_interest(GstBuffer* buffer, const Rect& rect,
                                                     const char* type);

/// Gives a region of the buffer an id where it has none (0). It is above 0, no other region of the
/// frame has it, and it is the same in every run.
void give_id(GstBuffer* buffer, GstVideoRegionOfInterestMeta& region);

/// As the meta says it, not clipped.
Rect rect_of(const GstVideoRegionOfInterestMeta& meta);

}  // namespace het::gst
