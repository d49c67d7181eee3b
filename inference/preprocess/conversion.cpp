#include "inference/preprocess/conversion.h"

#include <cmath>

namespace het {
namespace {

constexpr int64_t kMaxTensorSide = 1 << 16;

/// Positions of channel, height and width in the shape.
struct Axes {
  size_t channel;
  size_t height;
  size_t width;
};

Axes axes_of(const PreprocessDesc& desc, size_t rank) {
  const size_t first = rank - 3;
  if (desc.tensor_layout == Layout::NHWC) return {first + 2, first, first + 1};
  return {first, first + 1, first + 2};
}

Status validate_arithmetic(const PreprocessDesc& desc) {
  if (!std::isfinite(desc.range_low) || !std::isfinite(desc.range_high)) {
    return error(StatusCode::InvalidArgument, "the range {} to {} of the input is not finite",
                 desc.range_low, desc.range_high);
  }
  for (size_t c = 0; c < desc.mean.size(); ++c) {
    if (!std::isfinite(desc.mean[c]) || !std::isfinite(desc.std[c]) || desc.std[c] == 0.0f) {
      return error(StatusCode::InvalidArgument,
                   "channel {} cannot be normalised with mean {} and std {}: both must be finite "
                   "and std not 0",
                   c, desc.mean[c], desc.std[c]);
    }
    if (!(desc.pad_value[c] >= 0.0f && desc.pad_value[c] <= 255.0f)) {
      return error(StatusCode::InvalidArgument,
                   "pad value {} of channel {} is not a pixel value; give 0 to 255",
                   desc.pad_value[c], c);
    }
  }
  return {};
}

}  // namespace

Status validate(const PreprocessDesc& desc, const TensorDesc& tensor) {
  if (desc.tensor_layout != Layout::NCHW && desc.tensor_layout != Layout::NHWC) {
    return error(StatusCode::InvalidArgument,
                 "a picture is converted to layout NCHW or NHWC, not to {}",
                 to_string(desc.tensor_layout));
  }
  if (tensor.layout != Layout::Plain && tensor.layout != desc.tensor_layout) {
    return error(StatusCode::ShapeMismatch, "tensor {} has layout {}, but the picture gets {}",
                 to_string(tensor), to_string(tensor.layout), to_string(desc.tensor_layout));
  }
  if (tensor.type != ElementType::UInt8 && !is_float(tensor.type)) {
    return error(StatusCode::NotSupported,
                 "cannot convert a picture to tensor {}; its type must be uint8, float16, "
                 "bfloat16, float32 or float64",
                 to_string(tensor));
  }
  const size_t rank = tensor.shape.size();
  if (rank != 3 && rank != 4) {
    return error(
        StatusCode::ShapeMismatch,
        "cannot convert a picture to tensor {} of rank {}; it must be {}", to_string(tensor), rank,
        desc.tensor_layout == Layout::NHWC ? "[N,H,W,C] or [H,W,C]" : "[N,C,H,W] or [C,H,W]");
  }
  const Axes axes = axes_of(desc, rank);
  const int64_t channels = desc.color_order == ColorOrder::Gray ? 1 : 3;
  if (tensor.shape[axes.channel] != channels) {
    return error(StatusCode::ShapeMismatch,
                 "{} pictures in layout {} need {} channel(s), but tensor {} has {}",
                 channels == 1 ? "gray" : "colour", to_string(desc.tensor_layout), channels,
                 to_string(tensor), tensor.shape[axes.channel]);
  }
  for (const size_t axis : {axes.height, axes.width}) {
    if (tensor.shape[axis] < 1 || tensor.shape[axis] > kMaxTensorSide) {
      return error(StatusCode::ShapeMismatch,
                   "cannot convert a picture to tensor {}: its sides must be known and 1 to {}",
                   to_string(tensor), kMaxTensorSide);
    }
  }
  return validate_arithmetic(desc);
}

namespace preprocess_internal {
namespace {

Status check_alignment(const TargetElements& target) {
  const auto width = static_cast<int64_t>(byte_width(target.type));
  const auto address = static_cast<int64_t>(reinterpret_cast<uintptr_t>(target.address));
  if (address % width != 0 || target.channel_stride_bytes % width != 0 ||
      target.row_stride_bytes % width != 0 || target.pixel_stride_bytes % width != 0) {
    return error(StatusCode::InvalidArgument,
                 "the {} elements of the tensor are not aligned to their size",
                 to_string(target.type));
  }
  return {};
}

Result<TargetElements> target_elements(const PreprocessDesc& desc, const Tensor& dst,
                                       int64_t batch_index) {
  if (dst.empty()) return error(StatusCode::InvalidArgument, "there is no tensor to fill");
  HET_TRY(validate(desc, dst.desc()));
  const Shape& shape = dst.shape();
  const int64_t batch = shape.size() == 4 ? shape[0] : 1;
  if (batch_index < 0 || batch_index >= batch) {
    return error(StatusCode::InvalidArgument, "tensor {} has no batch item {}; it has {}",
                 to_string(dst.desc()), batch_index, batch);
  }
  const Axes axes = axes_of(desc, shape.size());
  const std::vector<int64_t>& strides = dst.strides_bytes();
  TargetElements target;
  target.type = dst.type();
  target.channels = static_cast<int>(shape[axes.channel]);
  target.height = static_cast<int>(shape[axes.height]);
  target.width = static_cast<int>(shape[axes.width]);
  target.offset_bytes = shape.size() == 4 ? batch_index * strides[0] : 0;
  if (dst.bytes() != nullptr) target.address = dst.bytes() + target.offset_bytes;
  target.channel_stride_bytes = strides[axes.channel];
  target.row_stride_bytes = strides[axes.height];
  target.pixel_stride_bytes = strides[axes.width];
  HET_TRY(check_alignment(target));
  return target;
}

}  // namespace

bool is_yuv(PixelFormat format) {
  return format == PixelFormat::NV12 || format == PixelFormat::I420 || is_unpacked(format);
}

bool is_unpacked(PixelFormat format) {
  return format == PixelFormat::P010 || is_packed_yuv(format);
}

bool is_packed_yuv(PixelFormat format) {
  return format == PixelFormat::YUY2 || format == PixelFormat::UYVY;
}

RgbPlacement rgb_placement(PixelFormat format) {
  switch (format) {
    case PixelFormat::RGB:
      return {false, 3, {0, 1, 2}};
    case PixelFormat::BGR:
      return {false, 3, {2, 1, 0}};
    case PixelFormat::RGBx:
    case PixelFormat::RGBA:
      return {false, 4, {0, 1, 2}};
    case PixelFormat::BGRx:
    case PixelFormat::BGRA:
      return {false, 4, {2, 1, 0}};
    case PixelFormat::RGBP:
      return {true, 1, {0, 1, 2}};
    case PixelFormat::BGRP:
      return {true, 1, {2, 1, 0}};
    case PixelFormat::GBR:
      return {true, 1, {2, 0, 1}};
    case PixelFormat::GRAY8:
    case PixelFormat::NV12:
    case PixelFormat::I420:
    case PixelFormat::P010:
    case PixelFormat::YUY2:
    case PixelFormat::UYVY:
      break;
  }
  return {true, 1, {0, 0, 0}};
}

Result<Conversion> plan_conversion(const Image& image, const Rect& roi, const PreprocessDesc& desc,
                                   const Tensor& dst, int64_t batch_index) {
  HET_TRY(validate(image));
  Conversion conversion;
  HET_ASSIGN(conversion.target, target_elements(desc, dst, batch_index));
  // The ROI as it was given names the culprit; what is left of it after clipping does not.
  const Rect visible = clip(roi, image.width, image.height);
  if (visible.width == 0 || visible.height == 0) {
    return error(
        StatusCode::InvalidArgument,
        "the ROI of {}x{} pixels at ({}, {}) is empty or lies outside of the {}x{} picture",
        roi.width, roi.height, roi.x, roi.y, image.width, image.height);
  }
  HET_ASSIGN(conversion.geometry,
             picture_geometry(desc, visible, conversion.target.width, conversion.target.height));
  conversion.format = image.format;
  for (int p = 0; p < image.plane_count; ++p) {
    const auto i = static_cast<size_t>(p);
    conversion.planes[i] = {nullptr, image.planes[i].stride_bytes,
                            plane_row_bytes(image.format, p, image.width)};
  }
  conversion.yuv = yuv_to_rgb(image.matrix, image.range);
  conversion.gray = desc.color_order == ColorOrder::Gray;
  conversion.color_of_channel = desc.color_order == ColorOrder::BGR
                                    ? std::array<int, 3>{kBlue, kGreen, kRed}
                                    : std::array<int, 3>{kRed, kGreen, kBlue};
  for (size_t c = 0; c < 3; ++c) {
    const double std_c = desc.std[c];
    const double span = static_cast<double>(desc.range_high) - desc.range_low;
    conversion.gain[c] = static_cast<float>(span / 255.0 / std_c);
    conversion.bias[c] =
        static_cast<float>((static_cast<double>(desc.range_low) - desc.mean[c]) / std_c);
  }
  return conversion;
}

Result<Conversion> prepare_conversion(const Image& image, const Rect& roi,
                                      const PreprocessDesc& desc, const Tensor& dst,
                                      int64_t batch_index, MappedPicture& picture) {
  HET_ASSIGN(Conversion conversion, plan_conversion(image, roi, desc, dst, batch_index));
  if (conversion.target.address == nullptr) {
    return error(StatusCode::NotSupported,
                 "cannot fill tensor {} in {} memory on the host; give a host tensor",
                 to_string(dst.desc()), to_string(dst.memory_kind()));
  }
  HET_TRY(open_planes(conversion, image, picture));
  return conversion;
}

Status open_planes(Conversion& conversion, const Image& image, MappedPicture& picture) {
  HET_TRY(picture.open(image));
  for (int p = 0; p < image.plane_count; ++p) {
    conversion.planes[static_cast<size_t>(p)].address = picture.plane(p);
  }
  return {};
}

}  // namespace preprocess_internal
}  // namespace het
