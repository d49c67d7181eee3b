#pragma once

#include <gst/video/video.h>

#include <vector>

#include "region_meta.h"

namespace het::gst {

/// Adds the regions of one frame, with all that they carry, to another one's (writable) and fits
/// them to its size. Returns how many.
int copy_regions(GstBuffer* from, const GstVideoInfo& from_info, GstBuffer* to,
                 const GstVideoInfo& to_info);

/// What other elements attached to a region of a picture of this size, as params of ours: classes
/// that no params of it name, the track, segmentations. To be freed by the caller.
std::vector<GstStructure*> params_of_others(const RegionMeta& region, const GstVideoInfo& info);

}  // namespace het::gst
