#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <optional>

#include "inference/base/status.h"
#include "inference/tensors/image.h"
#include "inference/tensors/surface_access.h"

namespace het::gst {

/// Caps of every picture that map_frame() takes, in the order of preference.
#define HET_GST_VIDEO_FORMATS                                                                 \
  "{ NV12, I420, RGB, BGR, RGBx, BGRx, RGBA, BGRA, RGBP, BGRP, GBR, GRAY8, P010_10LE, YUY2, " \
  "UYVY }"

/// Formats of frames in VA surfaces.
#define HET_GST_SURFACE_FORMATS "{ NV12, RGBP, BGRx }"

/// Linear DMA-BUFs, as GStreamer describes them: by format and, from 1.24 on, by DRM format.
#if GST_CHECK_VERSION(1, 24, 0)
#define HET_GST_DMABUF_CAPS                                                                 \
  "video/x-raw(memory:DMABuf), format = (string) DMA_DRM, drm-format = (string) "           \
  "{ NV12, YU12, P010, YUYV, UYVY, XR24, AR24, XB24, AB24 }, width = " GST_VIDEO_SIZE_RANGE \
  ", height = " GST_VIDEO_SIZE_RANGE ", framerate = " GST_VIDEO_FPS_RANGE
#else
#define HET_GST_DMABUF_CAPS \
  GST_VIDEO_CAPS_MAKE_WITH_FEATURES("memory:DMABuf", HET_GST_VIDEO_FORMATS)
#endif

#define HET_GST_HOST_CAPS \
  HET_GST_DMABUF_CAPS     \
  "; " GST_VIDEO_CAPS_MAKE(HET_GST_VIDEO_FORMATS)

/// Caps of frames that need nothing but themselves, what needs no copy first. Where the build has
/// no libva, without surfaces.
#ifdef HET_VA
#define HET_GST_DIRECT_CAPS                                                     \
  GST_VIDEO_CAPS_MAKE_WITH_FEATURES("memory:VAMemory", HET_GST_SURFACE_FORMATS) \
  "; " HET_GST_HOST_CAPS
#else
#define HET_GST_DIRECT_CAPS HET_GST_HOST_CAPS
#endif

/// Caps of every frame: also DMA-BUFs whose layout (DRM modifier) the display that the pipeline
/// shares has to import (frame_map_import).
#if defined(HET_VA) && GST_CHECK_VERSION(1, 24, 0)
#define HET_GST_FRAME_CAPS                                                                 \
  HET_GST_DIRECT_CAPS                                                                      \
  "; video/x-raw(memory:DMABuf), format = (string) DMA_DRM, width = " GST_VIDEO_SIZE_RANGE \
  ", height = " GST_VIDEO_SIZE_RANGE ", framerate = " GST_VIDEO_FPS_RANGE
#else
#define HET_GST_FRAME_CAPS HET_GST_DIRECT_CAPS
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

/// The display that the pipeline shares (GstContext gst.va.display.handle), asked for at the
/// neighbours and the application; none is opened. Null where there is none; else the caller's
/// reference, with its VADisplay.
struct SharedDisplay {
  GstObject* display = nullptr;
  void* va_display = nullptr;
};
SharedDisplay shared_display(GstElement* element);
/// Whether the element has been given one; asks nobody.
bool has_display(GstElement* element);

/// The surface as an Image of `access`, which is that of its display. The buffer is kept until the
/// last copy of the Image is gone. Fails as SurfaceAccess::wrap().
Result<Image> map_surface(GstBuffer* buffer, const GstVideoInfo& info, const FrameSurface& surface,
                          SurfaceAccess& access);

/// The part of the picture that counts, in its pixels: GstVideoCropMeta, else all of it.
Rect visible_part(GstBuffer* buffer, const Image& image);

/// The planes of a frame as an Image, without a copy: offsets and strides from GstVideoMeta where
/// the buffer has one. Linear DMA-BUFs stay such, for devices that import them; a map() of theirs
/// is GStreamer's. Other memory stays mapped for reading, with a reference to it, until the last
/// copy of the Image is gone. Fails with NotSupported for a format that Image lacks and
/// InvalidArgument for a buffer that is smaller than its caps say.
Result<Image> map_frame(GstBuffer* buffer, const GstVideoInfo& info);

}  // namespace het::gst
