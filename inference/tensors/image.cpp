#include "inference/tensors/image.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace het {
namespace {

constexpr std::string_view kFormatNames[] = {"NV12",  "I420", "RGB",  "BGR",  "RGBx",
                                             "BGRx",  "RGBA", "BGRA", "RGBP", "BGRP",
                                             "GRAY8", "P010", "YUY2", "UYVY", "GBR"};

constexpr int kMaxPictureSide = 1 << 16;

bool is_packed(PixelFormat format) {
  return format >= PixelFormat::RGB && format <= PixelFormat::BGRA;
}

}  // namespace

std::string_view to_string(PixelFormat format) {
  return kFormatNames[static_cast<size_t>(format)];
}

Result<PixelFormat> parse_pixel_format(std::string_view name) {
  std::string valid;
  for (size_t i = 0; i < std::size(kFormatNames); ++i) {
    if (kFormatNames[i] == name) return static_cast<PixelFormat>(i);
    valid += valid.empty() ? "" : ", ";
    valid += kFormatNames[i];
  }
  return error(StatusCode::InvalidArgument, "unknown pixel format '{}'; valid are {}", name, valid);
}

Rect clip(const Rect& rect, int picture_width, int picture_height) {
  const auto clip_axis = [](int64_t begin, int64_t size, int64_t limit, int& out, int& out_size) {
    const int64_t first = std::clamp<int64_t>(begin, 0, limit);
    const int64_t last = std::clamp<int64_t>(begin + std::max<int64_t>(size, 0), 0, limit);
    out = static_cast<int>(first);
    out_size = static_cast<int>(last - first);
  };
  Rect result;
  clip_axis(rect.x, rect.width, picture_width, result.x, result.width);
  clip_axis(rect.y, rect.height, picture_height, result.y, result.height);
  return result;
}

int plane_count(PixelFormat format) {
  switch (format) {
    case PixelFormat::NV12:
    case PixelFormat::P010:
      return 2;
    case PixelFormat::GBR:
    case PixelFormat::I420:
    case PixelFormat::RGBP:
    case PixelFormat::BGRP:
      return 3;
    default:
      return 1;
  }
}

int64_t plane_row_bytes(PixelFormat format, int plane, int width) {
  const int64_t chroma = (static_cast<int64_t>(width) + 1) / 2;
  if (is_packed(format)) {
    return static_cast<int64_t>(width) *
           (format == PixelFormat::RGB || format == PixelFormat::BGR ? 3 : 4);
  }
  switch (format) {
    case PixelFormat::NV12:
      return plane == 0 ? width : 2 * chroma;
    case PixelFormat::P010:
      return plane == 0 ? 2 * static_cast<int64_t>(width) : 4 * chroma;
    case PixelFormat::I420:
      return plane == 0 ? width : chroma;
    case PixelFormat::YUY2:
    case PixelFormat::UYVY:
      return 4 * chroma;
    default:
      return width;
  }
}

int plane_rows(PixelFormat format, int plane, int height) {
  const bool chroma = plane > 0 && (format == PixelFormat::NV12 || format == PixelFormat::P010 ||
                                    format == PixelFormat::I420);
  return chroma ? (height + 1) / 2 : height;
}

Result<Image> make_host_image(PixelFormat format, int width, int height, BufferPtr buffer,
                              int stride_alignment) {
  if (width <= 0 || height <= 0 || width > kMaxPictureSide || height > kMaxPictureSide ||
      stride_alignment <= 0) {
    return error(StatusCode::InvalidArgument,
                 "a picture of {}x{} pixels is not possible; sides are 1 to {}", width, height,
                 kMaxPictureSide);
  }
  Image image;
  image.format = format;
  image.width = width;
  image.height = height;
  image.plane_count = plane_count(format);
  size_t size = 0;
  for (int p = 0; p < image.plane_count; ++p) {
    ImagePlane& plane = image.planes[static_cast<size_t>(p)];
    const int64_t row = plane_row_bytes(format, p, width);
    plane.stride_bytes = (row + stride_alignment - 1) / stride_alignment * stride_alignment;
    plane.offset = size;
    size += static_cast<size_t>(plane.stride_bytes) *
            static_cast<size_t>(plane_rows(format, p, height));
  }
  if (buffer == nullptr) {
    HET_ASSIGN(buffer, allocate_host_buffer(size));
  }
  for (int p = 0; p < image.plane_count; ++p) image.planes[static_cast<size_t>(p)].buffer = buffer;
  HET_TRY(validate(image));
  return image;
}

Status validate(const Image& image) {
  if (image.width <= 0 || image.height <= 0 || image.width > kMaxPictureSide ||
      image.height > kMaxPictureSide) {
    return error(StatusCode::InvalidArgument, "a picture of {}x{} pixels is not possible",
                 image.width, image.height);
  }
  if (image.plane_count != plane_count(image.format)) {
    return error(StatusCode::InvalidArgument, "a {} picture has {} planes, not {}",
                 to_string(image.format), plane_count(image.format), image.plane_count);
  }
  for (int p = 0; p < image.plane_count; ++p) {
    const ImagePlane& plane = image.planes[static_cast<size_t>(p)];
    if (plane.buffer == nullptr) {
      return error(StatusCode::InvalidArgument, "plane {} of the picture has no memory", p);
    }
    if (plane.buffer->kind() != MemoryKind::Host) continue;  // its owner lays it out
    const int64_t row = plane_row_bytes(image.format, p, image.width);
    const int64_t rows = plane_rows(image.format, p, image.height);
    int64_t last = 0;
    if (plane.stride_bytes < row || __builtin_mul_overflow(plane.stride_bytes, rows - 1, &last) ||
        __builtin_add_overflow(last, row, &last) || plane.offset > plane.buffer->size_bytes() ||
        static_cast<uint64_t>(last) > plane.buffer->size_bytes() - plane.offset) {
      return error(
          StatusCode::InvalidArgument,
          "plane {} of a {}x{} {} picture (offset {}, stride {}) does not fit its {} bytes", p,
          image.width, image.height, to_string(image.format), plane.offset, plane.stride_bytes,
          plane.buffer->size_bytes());
    }
  }
  return {};
}

}  // namespace het
