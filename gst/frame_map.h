#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <optional>

#include "inference/image.h"
#include "inference/status.h"
#include "inference/surface_access.h"

namespace het::gst {

/// Caps of every picture that map_frame() takes, in the order of preference.
#define HET_GST_VIDEO_FORMATS                                                                 \
  "{ NV12, I420, RGB, BGR, RGBx, BGRx, RGBA, BGRA, RGBP, BGRP, GBR, GRAY8, P010_10LE, YUY2, " \
  "UYVY }"

/// Formats of frames in VA surfaces.
#define HET_GST_SURFACE_FORMATS "{ NV12, RGBP, BGRx }"

/// Caps of every frame, surfaces first: they need no copy. Where the build has no libva, none.
#ifdef HET_VA
#define HET_GST_FRAME_CAPS                                                      \
  GST_VIDEO_CAPS_MAKE_WITH_FEATURES("memory:VAMemory", HET_GST_SURFACE_FORMATS) \
  "; " GST_VIDEO_CAPS_MAKE(HET_GST_VIDEO_FORMATS)
#else
#define HET_GST_FRAME_CAPS GST_VIDEO_CAPS_MAKE(HET_GST_VIDEO_FORMATS)
#endif

/// Reads the video caps of a pad. As gst_video_info_from_caps(), except that a colorimetry which
/// leaves only the matrix open keeps its range: full-range YUV of decoders that know no matrix.
bool read_video_info(const GstCaps* caps, GstVideoInfo* info);

/// The matrix and range by which the frame's YUV was made; what caps leave open follows
/// GStreamer's defaults (BT.601 up to 576 lines, BT.709 above; video range).
ColorMatrix color_matrix(const GstVideoInfo& info);
ColorRange color_range(const GstVideoInfo& info);

/// A VA surface that a buffer holds, with the GstVaDisplay (borrowed) and the VADisplay it is of.
struct FrameSurface {
  GstObject* display = nullptr;
  void* va_display = nullptr;
  uint32_t surface = 0;
};
/// Nothing for a buffer of other memory and in a build without libva.
std::optional<FrameSurface> frame_surface(GstBuffer* buffer);

/// The surface as an Image of `access`, which is that of its display. The buffer is kept until the
/// last copy of the Image is gone. Fails as SurfaceAccess::wrap().
Result<Image> map_surface(GstBuffer* buffer, const GstVideoInfo& info, const FrameSurface& surface,
                          SurfaceAccess& access);

/// The part of the picture that counts, in its pixels: GstVideoCropMeta, else all of it.
Rect visible_part(GstBuffer* buffer, const Image& image);

/// The planes of a frame as an Image, without a copy: offsets and strides from GstVideoMeta where
/// the buffer has one. The buffer stays mapped for reading, with a reference to it, until the last
/// copy of the Image is gone. Fails with NotSupported for a format that Image lacks and
/// InvalidArgument for a buffer that is smaller than its caps say.
Result<Image> map_frame(GstBuffer* buffer, const GstVideoInfo& info);

}  // namespace het::gst
