#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/tensors/buffer.h"

namespace het {

/// Pixel formats, named as GStreamer names them. RGBP, BGRP and GBR are planar, in this order. P010
/// is NV12 with 16-bit little-endian samples whose upper 10 bits count; YUY2 (Y0 U Y1 V) and UYVY
/// (U Y0 V Y1) share U and V between two pixels of a row.
enum class PixelFormat : uint8_t {
  NV12,
  I420,
  RGB,
  BGR,
  RGBx,
  BGRx,
  RGBA,
  BGRA,
  RGBP,
  BGRP,
  GRAY8,
  P010,
  YUY2,
  UYVY,
  GBR,
};

HET_API std::string_view to_string(PixelFormat format);
HET_API Result<PixelFormat> parse_pixel_format(std::string_view name);

/// Coefficients that turn YUV into RGB: ITU-R BT.601, BT.709 and BT.2020 (of which the form with
/// non-constant luminance). Ignored for RGB formats.
enum class ColorMatrix : uint8_t { BT601, BT709, BT2020 };
/// Full: Y, U and V use 0..255; Video: Y 16..235, U and V 16..240.
enum class ColorRange : uint8_t { Full, Video };

/// A rectangle in pixels.
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool operator==(const Rect&) const = default;
};

/// The part of `rect` inside a picture of this size; width or height 0 when nothing is left.
HET_API Rect clip(const Rect& rect, int picture_width, int picture_height);

/// One plane: the memory it lives in (planes may share one buffer or have one each), where it
/// starts there and its bytes per row.
struct ImagePlane {
  BufferPtr buffer;
  size_t offset = 0;
  int64_t stride_bytes = 0;
};

inline constexpr int kMaxImagePlanes = 4;

/// A picture without GStreamer: the description of its planes and a handle to its memory. Copies
/// share the memory. Chroma planes of NV12, P010 and I420 have (width + 1) / 2 by
/// (height + 1) / 2 samples; a row of YUY2 or UYVY has (width + 1) / 2 pairs of pixels.
struct Image {
  PixelFormat format = PixelFormat::NV12;
  int width = 0;
  int height = 0;
  ColorMatrix matrix = ColorMatrix::BT601;
  ColorRange range = ColorRange::Video;
  int plane_count = 0;
  std::array<ImagePlane, kMaxImagePlanes> planes{};

  /// All planes have the same kind. Surfaces have no host address: a device imports them by
  /// buffer->handle(), or they are mapped once.
  MemoryKind memory_kind() const { return planes[0].buffer->kind(); }
  Rect full() const { return {0, 0, width, height}; }
  /// Host address of a plane's first byte; null when the memory is not host-addressable.
  const std::byte* plane(int index) const {
    const ImagePlane& p = planes[static_cast<size_t>(index)];
    return p.buffer->host() ? p.buffer->host() + p.offset : nullptr;
  }
};

HET_API int plane_count(PixelFormat format);
/// Bytes that one row of a plane uses (without padding) and its number of rows.
HET_API int64_t plane_row_bytes(PixelFormat format, int plane, int width);
HET_API int plane_rows(PixelFormat format, int plane, int height);

/// Describes host planes packed one after the other, rows padded to `stride_alignment` bytes.
/// Fails on non-positive sizes and when `buffer` is too small; a null buffer is allocated.
HET_API Result<Image> make_host_image(PixelFormat format, int width, int height,
                                      BufferPtr buffer = nullptr, int stride_alignment = 1);

/// Checks that every plane lies inside its buffer and the sizes are positive.
HET_API Status validate(const Image& image);

}  // namespace het
