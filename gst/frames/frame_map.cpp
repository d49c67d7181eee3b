#include "frame_map.h"

#include <gst/allocators/allocators.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "frame_memory.h"

namespace het::gst {
namespace {

/// Bytes of a MappedFrame.
class MappedPlane final : public Buffer {
 public:
  MappedPlane(void* address, size_t size)
      : Buffer(MemoryKind::Host, size, static_cast<std::byte*>(address), {}) {}
};

/// A frame mapped for reading, with its planes; unmapped with the last one that is in use.
class MappedFrame {
 public:
  static std::shared_ptr<MappedFrame> map(GstBuffer* buffer, const GstVideoInfo& info) {
    auto mapped = make_for_frame<MappedFrame>();
    mapped->mapped_ = gst_video_frame_map(&mapped->frame_, &info, buffer, GST_MAP_READ);
    return mapped->mapped_ ? mapped : nullptr;
  }
  MappedFrame() = default;
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;
  ~MappedFrame() {
    if (mapped_) gst_video_frame_unmap(&frame_);
  }
  GstVideoFrame& frame() { return frame_; }
  MappedPlane& plane(int index, size_t size) {
    return planes_[static_cast<size_t>(index)].emplace(GST_VIDEO_FRAME_PLANE_DATA(&frame_, index),
                                                       size);
  }

 private:
  std::array<std::optional<MappedPlane>, GST_VIDEO_MAX_PLANES> planes_;
  GstVideoFrame frame_ = {};
  bool mapped_ = false;
};

/// A memory that is a DMA-BUF, mapped by GStreamer when somebody asks for its bytes.
class DmaBufMemory final : public Buffer {
 public:
  DmaBufMemory(GstBuffer* frame, GstMemory* memory, size_t size)
      : Buffer(MemoryKind::DmaBuf, size, nullptr,
               DmaBufHandle{{gst_dmabuf_memory_get_fd(memory)}, 0}),
        frame_(gst_buffer_ref(frame)),
        memory_(gst_memory_ref(memory)) {}
  ~DmaBufMemory() override {
    gst_memory_unref(memory_);
    gst_buffer_unref(frame_);
  }

  Result<std::byte*> map(MapAccess access) override {
    if (access != MapAccess::Read) {
      return error(StatusCode::NotSupported, "frames are mapped for reading only");
    }
    std::lock_guard lock(mutex_);
    if (users_ == 0 && !gst_memory_map(memory_, &map_, GST_MAP_READ)) {
      return error(StatusCode::Internal, "cannot map a DMA-BUF of {} bytes", size_bytes());
    }
    ++users_;
    return reinterpret_cast<std::byte*>(map_.data);
  }
  void unmap() override {
    std::lock_guard lock(mutex_);
    if (--users_ == 0) gst_memory_unmap(memory_, &map_);
  }

 private:
  GstBuffer* frame_;
  GstMemory* memory_;
  std::mutex mutex_;  ///< protects the two below; taken alone
  GstMapInfo map_ = {};
  int users_ = 0;
};

std::optional<PixelFormat> pixel_format(GstVideoFormat format) {
  switch (format) {
    case GST_VIDEO_FORMAT_NV12:
      return PixelFormat::NV12;
    case GST_VIDEO_FORMAT_I420:
      return PixelFormat::I420;
    case GST_VIDEO_FORMAT_RGB:
      return PixelFormat::RGB;
    case GST_VIDEO_FORMAT_BGR:
      return PixelFormat::BGR;
    case GST_VIDEO_FORMAT_RGBx:
      return PixelFormat::RGBx;
    case GST_VIDEO_FORMAT_BGRx:
      return PixelFormat::BGRx;
    case GST_VIDEO_FORMAT_RGBA:
      return PixelFormat::RGBA;
    case GST_VIDEO_FORMAT_BGRA:
      return PixelFormat::BGRA;
    case GST_VIDEO_FORMAT_RGBP:
      return PixelFormat::RGBP;
    case GST_VIDEO_FORMAT_BGRP:
      return PixelFormat::BGRP;
    case GST_VIDEO_FORMAT_GRAY8:
      return PixelFormat::GRAY8;
    case GST_VIDEO_FORMAT_GBR:
      return PixelFormat::GBR;
    case GST_VIDEO_FORMAT_P010_10LE:
      return PixelFormat::P010;
    case GST_VIDEO_FORMAT_YUY2:
      return PixelFormat::YUY2;
    case GST_VIDEO_FORMAT_UYVY:
      return PixelFormat::UYVY;
    default:
      return std::nullopt;
  }
}

/// The buffer's own size and planes, or what its caps say.
struct FramePlanes {
  int width;
  int height;
  const gsize* offset;
  const gint* stride;
};

FramePlanes planes_of(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (!meta) {
    return {GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), info.offset, info.stride};
  }
  return {static_cast<int>(meta->width), static_cast<int>(meta->height), meta->offset,
          meta->stride};
}

/// The frame as a picture in DMA-BUFs; nothing when not all of it is, or begins inside of one.
std::optional<Image> dma_buf_image(GstBuffer* buffer, const GstVideoInfo& info,
                                   PixelFormat format) {
  const FramePlanes planes = planes_of(buffer, info);
  Image image;
  image.format = format;
  image.width = planes.width;
  image.height = planes.height;
  image.matrix = color_matrix(info);
  image.range = color_range(info);
  image.plane_count = plane_count(format);
  const GstMemory* last = nullptr;
  for (int i = 0; i < image.plane_count; ++i) {
    guint index = 0;
    guint length = 0;
    gsize skip = 0;
    if (!gst_buffer_find_memory(buffer, planes.offset[i], 1, &index, &length, &skip)) {
      return std::nullopt;
    }
    GstMemory* memory = gst_buffer_peek_memory(buffer, index);
    gsize before = 0;
    const gsize size = gst_memory_get_sizes(memory, &before, nullptr);
    if (!gst_is_dmabuf_memory(memory) || before != 0) return std::nullopt;
    ImagePlane& plane = image.planes[static_cast<size_t>(i)];
    plane.buffer = memory == last ? image.planes[static_cast<size_t>(i) - 1].buffer
                                  : make_for_frame<DmaBufMemory>(buffer, memory, size);
    plane.offset = skip;
    plane.stride_bytes = planes.stride[i];
    last = memory;
  }
  return image;
}

}  // namespace

bool read_video_info(const GstCaps* caps, GstVideoInfo* info) {
#if GST_CHECK_VERSION(1, 24, 0)
  GstVideoInfoDmaDrm drm;
  if (gst_video_is_dma_drm_caps(caps)) {
    if (!gst_video_info_dma_drm_from_caps(&drm, caps)) return false;
    if (gst_video_info_dma_drm_to_video_info(&drm, info)) return true;
    // Only linear ones are planes; of others the format tells the colours.
    const GstVideoFormat format = gst_video_dma_drm_fourcc_to_format(drm.drm_fourcc);
    if (format == GST_VIDEO_FORMAT_UNKNOWN ||
        !gst_video_info_set_format(info, format, static_cast<guint>(drm.vinfo.width),
                                   static_cast<guint>(drm.vinfo.height)))
      return false;
    GST_VIDEO_INFO_FPS_N(info) = GST_VIDEO_INFO_FPS_N(&drm.vinfo);
    GST_VIDEO_INFO_FPS_D(info) = GST_VIDEO_INFO_FPS_D(&drm.vinfo);
    GST_VIDEO_INFO_INTERLACE_MODE(info) = GST_VIDEO_INFO_INTERLACE_MODE(&drm.vinfo);
    return true;
  }
#endif
  if (!gst_video_info_from_caps(info, caps)) return false;
  const char* text = gst_structure_get_string(gst_caps_get_structure(caps, 0), "colorimetry");
  GstVideoColorimetry given;
  if (text && gst_video_colorimetry_from_string(&given, text) &&
      given.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN &&
      given.range != GST_VIDEO_COLOR_RANGE_UNKNOWN) {
    info->colorimetry.range = given.range;
  }
  return true;
}

ColorMatrix color_matrix(const GstVideoInfo& info) {
  switch (info.colorimetry.matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT709:
    case GST_VIDEO_COLOR_MATRIX_SMPTE240M:
      return ColorMatrix::BT709;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
      return ColorMatrix::BT2020;
    default:
      return ColorMatrix::BT601;
  }
}

ColorRange color_range(const GstVideoInfo& info) {
  return info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255 ? ColorRange::Full
                                                               : ColorRange::Video;
}

Rect visible_part(GstBuffer* buffer, const Image& image) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  if (!crop) return image.full();
  const auto side = [](guint value) { return static_cast<int>(std::min<guint>(value, G_MAXINT)); };
  return clip({side(crop->x), side(crop->y), side(crop->width), side(crop->height)}, image.width,
              image.height);
}

Result<Image> map_surface(GstBuffer* buffer, const GstVideoInfo& info, const FrameSurface& surface,
                          SurfaceAccess& access) {
  const std::optional<PixelFormat> format = pixel_format(GST_VIDEO_INFO_FORMAT(&info));
  if (!format) {
    return error(StatusCode::NotSupported,
                 "cannot read surfaces of format {}; put vapostproc before the element",
                 gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)));
  }
  // Of a cropped picture the caps give the visible size, GstVideoMeta that of the surface.
  const FramePlanes planes = planes_of(buffer, info);
  SurfacePicture picture;
  picture.surface = surface.surface;
  picture.format = *format;
  picture.width = planes.width;
  picture.height = planes.height;
  picture.matrix = color_matrix(info);
  picture.range = color_range(info);
  gst_buffer_ref(buffer);
  auto image = access.wrap(picture, [buffer] { gst_buffer_unref(buffer); });
  if (!image) gst_buffer_unref(buffer);
  return image;
}

Result<Image> map_frame(GstBuffer* buffer, const GstVideoInfo& info) {
  const std::optional<PixelFormat> format = pixel_format(GST_VIDEO_INFO_FORMAT(&info));
  if (!format) {
    return error(StatusCode::NotSupported,
                 "cannot read pictures of format {}; put videoconvert before the element",
                 gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)));
  }
  if (std::optional<Image> image = dma_buf_image(buffer, info, *format)) {
    HET_TRY(validate(*image));
    return *std::move(image);
  }
  const std::shared_ptr<MappedFrame> mapped = MappedFrame::map(buffer, info);
  if (!mapped) {
    return error(
        StatusCode::InvalidArgument,
        "cannot map a buffer of {} bytes as a {} picture of {}x{}, which takes {} bytes; "
        "its caps do not describe it",
        gst_buffer_get_size(buffer), gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)),
        GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), GST_VIDEO_INFO_SIZE(&info));
  }
  GstVideoFrame& frame = mapped->frame();
  Image image;
  image.format = *format;
  image.width = GST_VIDEO_FRAME_WIDTH(&frame);
  image.height = GST_VIDEO_FRAME_HEIGHT(&frame);
  image.matrix = color_matrix(info);
  image.range = color_range(info);
  image.plane_count = plane_count(*format);
  for (int i = 0; i < image.plane_count; ++i) {
    ImagePlane& plane = image.planes[static_cast<size_t>(i)];
    plane.stride_bytes = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, i);
    const int64_t row_bytes = plane_row_bytes(*format, i, image.width);
    const int64_t rows = plane_rows(*format, i, image.height);
    // The last row may end before its stride does.
    const auto size = static_cast<size_t>(plane.stride_bytes * (rows - 1) + row_bytes);
    if (plane.stride_bytes < row_bytes ||
        GST_VIDEO_FRAME_PLANE_OFFSET(&frame, i) + size > gst_buffer_get_size(buffer)) {
      return error(StatusCode::InvalidArgument,
                   "plane {} of a {} picture of {}x{} (offset {}, stride {}) does not fit into its "
                   "buffer of {} bytes",
                   i, to_string(*format), image.width, image.height,
                   GST_VIDEO_FRAME_PLANE_OFFSET(&frame, i), plane.stride_bytes,
                   gst_buffer_get_size(buffer));
    }
    plane.buffer = BufferPtr(mapped, &mapped->plane(i, size));
  }
  return image;
}

}  // namespace het::gst
