#include <algorithm>
#include <cmath>
#include <cstdint>

#include "inference/preprocess/preprocess.h"

namespace het {
namespace {

/// value * numerator / denominator, to the nearest integer (half to even, as Python's round()), at
/// least 1 and at most `limit`.
int scaled(int value, int numerator, int denominator, int limit) {
  const double exact = static_cast<double>(value) * numerator / denominator;
  return static_cast<int>(std::clamp<double>(std::nearbyint(exact), 1.0, limit));
}

/// The same rounded down. In integers: YOLOX computes int(size * ratio) in floating point, which
/// loses a pixel where size * ratio is whole but the ratio is not representable.
int scaled_down(int value, int numerator, int denominator, int limit) {
  const int64_t exact = static_cast<int64_t>(value) * numerator / denominator;
  return static_cast<int>(std::clamp<int64_t>(exact, 1, limit));
}

/// The part of the tensor that a picture of this size fills when it keeps its aspect ratio.
Rect letterbox(ResizeMode mode, const Rect& roi, int tensor_width, int tensor_height) {
  const bool centred = mode == ResizeMode::LetterboxCentre;
  const auto scale = centred ? scaled : scaled_down;
  Rect picture{0, 0, tensor_width, tensor_height};
  if (static_cast<int64_t>(tensor_width) * roi.height <=
      static_cast<int64_t>(tensor_height) * roi.width) {
    picture.height = scale(roi.height, tensor_width, roi.width, tensor_height);
  } else {
    picture.width = scale(roi.width, tensor_height, roi.height, tensor_width);
  }
  if (centred) {
    picture.x = (tensor_width - picture.width) / 2;
    picture.y = (tensor_height - picture.height) / 2;
  }
  return picture;
}

/// The largest middle part of the ROI that has the tensor's aspect ratio.
Rect central_crop(const Rect& roi, int tensor_width, int tensor_height) {
  Rect crop = roi;
  if (static_cast<int64_t>(tensor_width) * roi.height >=
      static_cast<int64_t>(tensor_height) * roi.width) {
    crop.height = scaled(roi.width, tensor_height, tensor_width, roi.height);
    crop.y += (roi.height - crop.height) / 2;
  } else {
    crop.width = scaled(roi.height, tensor_width, tensor_height, roi.width);
    crop.x += (roi.width - crop.width) / 2;
  }
  return crop;
}

}  // namespace

Result<PictureGeometry> picture_geometry(const PreprocessDesc& desc, const Rect& roi,
                                         int tensor_width, int tensor_height) {
  if (roi.width <= 0 || roi.height <= 0) {
    return error(StatusCode::InvalidArgument,
                 "the ROI of {}x{} pixels at ({}, {}) is empty or lies outside of the picture",
                 roi.width, roi.height, roi.x, roi.y);
  }
  if (tensor_width <= 0 || tensor_height <= 0) {
    return error(StatusCode::InvalidArgument, "cannot fit a picture into a tensor of {}x{} pixels",
                 tensor_width, tensor_height);
  }
  const int width = tensor_width - 2 * desc.border_x;
  const int height = tensor_height - 2 * desc.border_y;
  if (desc.border_x < 0 || desc.border_y < 0 || width < 1 || height < 1) {
    return error(StatusCode::InvalidArgument,
                 "a border of {} columns and {} rows on each side leaves nothing of {}x{} pixels",
                 desc.border_x, desc.border_y, tensor_width, tensor_height);
  }
  PictureGeometry geometry;
  geometry.source = roi;
  geometry.destination = {0, 0, width, height};
  switch (desc.resize) {
    case ResizeMode::Stretch:
      break;
    case ResizeMode::LetterboxCentre:
    case ResizeMode::LetterboxTopLeft:
      geometry.destination = letterbox(desc.resize, roi, width, height);
      break;
    case ResizeMode::CentralCrop:
      geometry.source = central_crop(roi, width, height);
      break;
  }
  if (desc.resize != ResizeMode::LetterboxTopLeft) {
    geometry.destination.x += desc.border_x;
    geometry.destination.y += desc.border_y;
  }
  // From the whole-pixel sizes, not from the wished ratio: boxes land where the pixels came from.
  const Rect& from = geometry.source;
  const Rect& to = geometry.destination;
  const double scale_x = static_cast<double>(from.width) / to.width;
  const double scale_y = static_cast<double>(from.height) / to.height;
  geometry.transform = {
      .scale_x = static_cast<float>(scale_x),
      .scale_y = static_cast<float>(scale_y),
      .offset_x = static_cast<float>(from.x - to.x * scale_x),
      .offset_y = static_cast<float>(from.y - to.y * scale_y),
  };
  return geometry;
}

}  // namespace het
