#pragma once

#include <gst/video/video.h>

#include "inference/image.h"
#include "inference/status.h"

namespace het::gst {

/// Caps of every picture that map_frame() takes, in the order of preference.
#define HET_GST_VIDEO_FORMATS                                                                 \
  "{ NV12, I420, RGB, BGR, RGBx, BGRx, RGBA, BGRA, RGBP, BGRP, GBR, GRAY8, P010_10LE, YUY2, " \
  "UYVY }"

/// Reads the video caps of a pad. As gst_video_info_from_caps(), except that a colorimetry which
/// leaves only the matrix open keeps its range: full-range YUV of decoders that know no matrix.
bool read_video_info(const GstCaps* caps, GstVideoInfo* info);

/// The matrix and range by which the frame's YUV was made; what caps leave open follows
/// GStreamer's defaults (BT.601 up to 576 lines, BT.709 above; video range).
ColorMatrix color_matrix(const GstVideoInfo& info);
ColorRange color_range(const GstVideoInfo& info);

/// The planes of a frame as an Image, without a copy: offsets and strides from GstVideoMeta where
/// the buffer has one. The buffer stays mapped for reading, with a reference to it, until the last
/// copy of the Image is gone. Fails with NotSupported for a format that Image lacks and
/// InvalidArgument for a buffer that is smaller than its caps say.
Result<Image> map_frame(GstBuffer* buffer, const GstVideoInfo& info);

}  // namespace het::gst
