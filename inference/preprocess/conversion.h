#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "inference/preprocess/mapped_picture.h"
#include "inference/preprocess/preprocess.h"
#include "inference/preprocess/yuv_to_rgb.h"

namespace het::preprocess_internal {

/// Colours in the order of the letters; a tensor channel shows one of them.
enum Color : int { kRed = 0, kGreen = 1, kBlue = 2 };

/// One plane of the picture, whole (not cropped).
struct SourcePlane {
  const uint8_t* address = nullptr;
  int64_t stride_bytes = 0;
  int64_t row_bytes = 0;  ///< bytes of a row that may be read

  const uint8_t* row(int y) const { return address + y * stride_bytes; }
};

/// The elements of one batch item.
struct TargetElements {
  ElementType type = ElementType::Float32;
  int channels = 0;
  int width = 0;
  int height = 0;
  int64_t offset_bytes = 0;      ///< of the item in its tensor
  std::byte* address = nullptr;  ///< null in memory that the host does not reach
  int64_t channel_stride_bytes = 0;
  int64_t row_stride_bytes = 0;
  int64_t pixel_stride_bytes = 0;

  std::byte* at(int channel, int y, int x) const {
    return address + channel * channel_stride_bytes + y * row_stride_bytes + x * pixel_stride_bytes;
  }
};

/// Everything that one call of preprocess() has checked and worked out: what both implementations
/// start from.
struct Conversion {
  PixelFormat format = PixelFormat::NV12;
  std::array<SourcePlane, 3> planes{};
  YuvToRgb yuv;
  PictureGeometry geometry;
  TargetElements target;
  std::array<int, 3> color_of_channel{};  ///< which Color a channel shows; unused for gray
  bool gray = false;
  std::array<float, 3> gain{};  ///< element = pixel * gain + bias, per channel
  std::array<float, 3> bias{};
};

/// Where the colours lie in a packed pixel or among the planes of RGB formats.
struct RgbPlacement {
  bool planar = false;
  int pixel_bytes = 1;
  std::array<int, 3> position{};  ///< byte in the pixel, or plane, of each Color
};
bool is_yuv(PixelFormat format);
/// YUY2 and UYVY.
bool is_packed_yuv(PixelFormat format);
/// YUV formats whose rows become rows of NV12 before they are resampled: P010, whose samples are
/// rounded to bytes, YUY2 and UYVY.
bool is_unpacked(PixelFormat format);
RgbPlacement rgb_placement(PixelFormat format);

/// Checks the request; the planes have no addresses yet.
Result<Conversion> plan_conversion(const Image& image, const Rect& roi, const PreprocessDesc& desc,
                                   const Tensor& dst, int64_t batch_index);
/// Gives the planes their host addresses, which hold while `picture` lives.
Status open_planes(Conversion& conversion, const Image& image, MappedPicture& picture);
/// Both; the tensor must be in host memory.
Result<Conversion> prepare_conversion(const Image& image, const Rect& roi,
                                      const PreprocessDesc& desc, const Tensor& dst,
                                      int64_t batch_index, MappedPicture& picture);

/// Runs the conversion by plain loops over the definition.
void convert_by_definition(const Conversion& conversion, const PreprocessDesc& desc);

/// Stores a value as the target's type: UInt8 rounded (half to even) and clamped.
void store_element(ElementType type, double value, std::byte* address);

}  // namespace het::preprocess_internal
