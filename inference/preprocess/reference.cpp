#include <algorithm>
#include <cmath>
#include <cstring>

#include "inference/preprocess/axis_sample.h"
#include "inference/preprocess/conversion.h"

namespace het {
namespace preprocess_internal {
namespace {

/// Three colours, levels 0..255 unless said otherwise.
using Pixel = std::array<int, 3>;

/// A sample of P010 as a byte, rounded.
int rounded_sample(const SourcePlane& plane, int index, int y) {
  const uint8_t* const bytes = plane.row(y) + 2 * index;
  return std::min(((bytes[0] | bytes[1] << 8) + 128) >> 8, 255);
}

/// Y, U and V of a source pixel; chroma samples belong to 2x2 pixels each, of YUY2 and UYVY to two
/// of a row, and are repeated.
std::array<int, 3> yuv_at(const Conversion& conversion, int x, int y) {
  const std::array<SourcePlane, 3>& planes = conversion.planes;
  const int cx = x / 2;
  const int cy = y / 2;
  switch (conversion.format) {
    case PixelFormat::P010:
      return {rounded_sample(planes[0], x, y), rounded_sample(planes[1], 2 * cx, cy),
              rounded_sample(planes[1], 2 * cx + 1, cy)};
    case PixelFormat::YUY2: {
      const uint8_t* const pair = planes[0].row(y) + 4 * cx;
      return {pair[2 * (x % 2)], pair[1], pair[3]};
    }
    case PixelFormat::UYVY: {
      const uint8_t* const pair = planes[0].row(y) + 4 * cx;
      return {pair[2 * (x % 2) + 1], pair[0], pair[2]};
    }
    case PixelFormat::NV12:
      return {planes[0].row(y)[x], planes[1].row(cy)[2 * cx], planes[1].row(cy)[2 * cx + 1]};
    default:  // I420
      return {planes[0].row(y)[x], planes[1].row(cy)[cx], planes[2].row(cy)[cx]};
  }
}

/// Red, green and blue of a source pixel.
Pixel rgb_at(const Conversion& conversion, int x, int y) {
  const auto byte_at = [&](size_t plane, int px, int py) {
    return static_cast<int>(conversion.planes[plane].row(py)[px]);
  };
  if (!is_yuv(conversion.format)) {
    const RgbPlacement placement = rgb_placement(conversion.format);
    Pixel pixel{};
    for (size_t color = 0; color < 3; ++color) {
      const int position = placement.position[color];
      pixel[color] = placement.planar ? byte_at(static_cast<size_t>(position), x, y)
                                      : byte_at(0, x * placement.pixel_bytes + position, y);
    }
    return pixel;
  }
  const auto [luma, u, v] = yuv_at(conversion, x, y);
  return rgb_of(conversion.yuv, luma, u, v);
}

/// What is interpolated at a source pixel: its colours, or three times its luma.
Pixel levels_at(const Conversion& conversion, int x, int y) {
  if (!conversion.gray || !is_yuv(conversion.format)) return rgb_at(conversion, x, y);
  const int luma = to_level(luma_of(conversion.yuv, yuv_at(conversion, x, y)[0]));
  return {luma, luma, luma};
}

/// Colours of a source row between two of its pixels, in the tensor's channel order and 128ths of a
/// level.
Pixel in_row(const Conversion& conversion, const AxisSample& columns, int y) {
  const Rect& from = conversion.geometry.source;
  const Pixel first = levels_at(conversion, from.x + columns.first, from.y + y);
  const Pixel second = levels_at(conversion, from.x + columns.second, from.y + y);
  Pixel rgb{};
  for (size_t c = 0; c < 3; ++c) rgb[c] = mix_row(first[c], second[c], columns.weight);
  if (conversion.gray) {
    const int sum = rgb[kRed] * kRedToGray + rgb[kGreen] * kGreenToGray + rgb[kBlue] * kBlueToGray;
    return {(sum + (1 << (kGrayPoint - 1))) >> kGrayPoint, 0, 0};
  }
  Pixel pixel{};
  for (size_t c = 0; c < 3; ++c) {
    pixel[c] = rgb[static_cast<size_t>(conversion.color_of_channel[c])];
  }
  return pixel;
}

/// The picture at the centre of pixel (x, y) of the destination rectangle.
Pixel interpolated(const Conversion& conversion, int x, int y) {
  const PictureGeometry& geometry = conversion.geometry;
  const AxisSample columns = axis_sample(x, geometry.destination.width, geometry.source.width);
  const AxisSample rows = axis_sample(y, geometry.destination.height, geometry.source.height);
  const Pixel top = in_row(conversion, columns, rows.first);
  const Pixel bottom = in_row(conversion, columns, rows.second);
  Pixel pixel{};
  for (size_t c = 0; c < 3; ++c) pixel[c] = mix_rows(top[c], bottom[c], rows.weight);
  return pixel;
}

}  // namespace

void store_element(ElementType type, double value, std::byte* address) {
  const auto put = [address](auto element) { std::memcpy(address, &element, sizeof element); };
  switch (type) {
    case ElementType::Float64:
      return put(value);
    case ElementType::Float32:
      return put(static_cast<float>(value));
    case ElementType::Float16:
      return put(float_to_half(static_cast<float>(value)));
    case ElementType::BFloat16:
      return put(float_to_bfloat16(static_cast<float>(value)));
    default:  // UInt8; validate() admits no other type
      return put(static_cast<uint8_t>(std::nearbyint(std::clamp(value, 0.0, 255.0))));
  }
}

void convert_by_definition(const Conversion& conversion, const PreprocessDesc& desc) {
  const Rect& to = conversion.geometry.destination;
  const TargetElements& target = conversion.target;
  for (int y = 0; y < target.height; ++y) {
    for (int x = 0; x < target.width; ++x) {
      const bool inside = x >= to.x && x < to.x + to.width && y >= to.y && y < to.y + to.height;
      const Pixel pixel = inside ? interpolated(conversion, x - to.x, y - to.y) : Pixel{};
      for (int channel = 0; channel < target.channels; ++channel) {
        const auto c = static_cast<size_t>(channel);
        const double span = static_cast<double>(desc.range_high) - desc.range_low;
        const double level = inside ? pixel[c] : desc.pad_value[c];
        const double value = (desc.range_low + level / 255.0 * span - desc.mean[c]) / desc.std[c];
        store_element(target.type, value, target.at(channel, y, x));
      }
    }
  }
}

}  // namespace preprocess_internal

Status preprocess_reference(const Image& image, const Rect& roi, const PreprocessDesc& desc,
                            Tensor& dst, int64_t batch_index) {
  using namespace preprocess_internal;
  MappedPicture picture;
  HET_ASSIGN(const Conversion conversion,
             prepare_conversion(image, roi, desc, dst, batch_index, picture));
  convert_by_definition(conversion, desc);
  return {};
}

}  // namespace het
