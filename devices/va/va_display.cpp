#include "devices/va/va_display.h"

#include <algorithm>

namespace het::va {
namespace {

StatusCode code_of(VAStatus status) {
  switch (status) {
    case VA_STATUS_ERROR_ALLOCATION_FAILED:
    case VA_STATUS_ERROR_MAX_NUM_EXCEEDED:
      return StatusCode::OutOfMemory;
    case VA_STATUS_ERROR_UNIMPLEMENTED:
    case VA_STATUS_ERROR_UNSUPPORTED_PROFILE:
    case VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT:
    case VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT:
    case VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE:
    case VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED:
    case VA_STATUS_ERROR_INVALID_IMAGE_FORMAT:
      return StatusCode::NotSupported;
    case VA_STATUS_ERROR_INVALID_DISPLAY:
    case VA_STATUS_ERROR_HW_BUSY:
    case VA_STATUS_ERROR_DECODING_ERROR:
    case VA_STATUS_ERROR_TIMEDOUT:
    case VA_STATUS_ERROR_OPERATION_FAILED:
      return StatusCode::DeviceLost;
    default:
      return StatusCode::Internal;
  }
}

}  // namespace

Status va_status(VAStatus status, std::string_view action) {
  if (status == VA_STATUS_SUCCESS) return {};
  return error(code_of(status), "the VA driver cannot {}: {}", action, vaErrorStr(status));
}

uint32_t fourcc_of(PixelFormat format) {
  switch (format) {
    case PixelFormat::NV12:
      return VA_FOURCC_NV12;
    case PixelFormat::P010:
      return VA_FOURCC_P010;
    case PixelFormat::I420:
      return VA_FOURCC_I420;
    case PixelFormat::YUY2:
      return VA_FOURCC_YUY2;
    case PixelFormat::UYVY:
      return VA_FOURCC_UYVY;
    case PixelFormat::RGBP:
      return VA_FOURCC_RGBP;
    case PixelFormat::BGRP:
      return VA_FOURCC_BGRP;
    case PixelFormat::BGRx:
      return VA_FOURCC_BGRX;
    case PixelFormat::RGBx:
      return VA_FOURCC_RGBX;
    case PixelFormat::BGRA:
      return VA_FOURCC_BGRA;
    case PixelFormat::RGBA:
      return VA_FOURCC_RGBA;
    case PixelFormat::GRAY8:
      return VA_FOURCC_Y800;
    default:
      return 0;
  }
}

Display::~Display() {
  if (release_) release_();
}

Status Display::sync(VASurfaceID surface) const {
  return va_status(vaSyncSurface(display_, surface), fmt::format("finish surface {}", surface));
}

std::optional<VAImageFormat> Display::image_format(PixelFormat format) {
  std::call_once(formats_read_, [this] {
    formats_.resize(static_cast<size_t>(std::max(vaMaxNumImageFormats(display_), 0)));
    int count = 0;
    if (vaQueryImageFormats(display_, formats_.data(), &count) != VA_STATUS_SUCCESS) count = 0;
    formats_.resize(
        static_cast<size_t>(std::clamp<int>(count, 0, static_cast<int>(formats_.size()))));
  });
  for (const VAImageFormat& known : formats_) {
    if (known.fourcc == fourcc_of(format)) return known;
  }
  return std::nullopt;
}

}  // namespace het::va
