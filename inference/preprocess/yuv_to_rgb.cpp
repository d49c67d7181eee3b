#include "inference/preprocess/yuv_to_rgb.h"

#include <cmath>

namespace het::preprocess_internal {

YuvToRgb yuv_to_rgb(ColorMatrix matrix, ColorRange range) {
  const double kr = matrix == ColorMatrix::BT601 ? 0.299 : 0.2126;
  const double kb = matrix == ColorMatrix::BT601 ? 0.114 : 0.0722;
  const double kg = 1.0 - kr - kb;
  const bool video = range == ColorRange::Video;
  const double chroma_scale = video ? 255.0 / 224.0 : 1.0;
  const double red = 2.0 * (1.0 - kr) * chroma_scale;
  const double blue = 2.0 * (1.0 - kb) * chroma_scale;
  const double luma_scale = video ? 255.0 / 219.0 : 1.0;
  const double luma_offset = video ? 16.0 : 0.0;
  const auto chroma = [](double factor) {
    return static_cast<int16_t>(std::lround(factor * 8192));
  };
  // The product with the scale is cut; half of its last digit is made good here (where it has any).
  const double cut = video ? 0.5 : 0.0;
  return {
      .luma_scale = static_cast<uint16_t>(std::lround(luma_scale * 16384)),
      .luma_bias = static_cast<int16_t>(std::lround(32.0 + cut - luma_offset * luma_scale * 64)),
      .v_to_red = chroma(red),
      .u_to_green = chroma(-blue * kb / kg),
      .v_to_green = chroma(-red * kr / kg),
      .u_to_blue = chroma(blue),
  };
}

}  // namespace het::preprocess_internal
