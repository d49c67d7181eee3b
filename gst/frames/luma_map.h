#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "frame_map.h"
#include "inference/base/status.h"
#include "inference/tensors/image.h"
#include "inference/tensors/surface_access.h"

namespace het::gst {

/// Formats whose first plane is luma, one byte a pixel.
#define HET_GST_LUMA_FORMATS "{ NV12, I420, GRAY8 }"

#if GST_CHECK_VERSION(1, 24, 0)
#define HET_GST_LUMA_DMABUF_CAPS                                                     \
  "video/x-raw(memory:DMABuf), format = (string) DMA_DRM, drm-format = (string) "    \
  "{ NV12, YU12 }, width = " GST_VIDEO_SIZE_RANGE ", height = " GST_VIDEO_SIZE_RANGE \
  ", framerate = " GST_VIDEO_FPS_RANGE
#else
#define HET_GST_LUMA_DMABUF_CAPS \
  GST_VIDEO_CAPS_MAKE_WITH_FEATURES("memory:DMABuf", HET_GST_LUMA_FORMATS)
#endif

/// Caps of frames that LumaMap reads.
#ifdef HET_VA
#define HET_GST_LUMA_CAPS                                      \
  GST_VIDEO_CAPS_MAKE_WITH_FEATURES("memory:VAMemory", "NV12") \
  "; " HET_GST_LUMA_DMABUF_CAPS "; " GST_VIDEO_CAPS_MAKE(HET_GST_LUMA_FORMATS)
#else
#define HET_GST_LUMA_CAPS HET_GST_LUMA_DMABUF_CAPS "; " GST_VIDEO_CAPS_MAKE(HET_GST_LUMA_FORMATS)
#endif

/// The luma of a frame's visible part, mapped while this lives. The frame must outlive it.
class MappedLuma {
 public:
  MappedLuma(Image image, const Rect& visible, const std::byte* first, bool is_mapped);
  MappedLuma(MappedLuma&& other) noexcept;
  MappedLuma& operator=(MappedLuma&&) = delete;
  ~MappedLuma();

  const uint8_t* pixels() const { return pixels_; }
  int64_t stride_bytes() const { return image_.planes[0].stride_bytes; }
  int width() const { return visible_.width; }
  int height() const { return visible_.height; }

 private:
  Image image_;
  Rect visible_;
  const uint8_t* pixels_;
  bool is_mapped_;
};

/// Maps the luma of frames in system memory, linear DMA-BUFs and VA surfaces. Thread-bound.
class LumaMap {
 public:
  /// Fails as map_frame() and map_surface(), where mapping fails, and for a frame without a visible
  /// pixel.
  Result<MappedLuma> map(GstBuffer* buffer, const GstVideoInfo& info);

 private:
  Result<Image> image_of(GstBuffer* buffer, const GstVideoInfo& info);

  void* va_display_ = nullptr;  ///< of access_
  std::shared_ptr<SurfaceAccess> access_;
};

}  // namespace het::gst
