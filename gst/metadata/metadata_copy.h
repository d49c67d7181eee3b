#pragma once

#include <gst/video/video.h>

namespace het::gst {

/// Adds the regions of one frame, with all that they carry, to another one's (writable) and fits
/// them to its size. Returns how many.
int copy_regions(GstBuffer* from, const GstVideoInfo& from_info, GstBuffer* to,
                 const GstVideoInfo& to_info);

}  // namespace het::gst
