#include "inference/preprocess/yuv_to_rgb.h"

namespace het::preprocess_internal {

YuvToRgb yuv_to_rgb(ColorMatrix matrix, ColorRange range) {
  const double kr = matrix == ColorMatrix::BT601 ? 0.299 : 0.2126;
  const double kb = matrix == ColorMatrix::BT601 ? 0.114 : 0.0722;
  const double kg = 1.0 - kr - kb;
  const bool video = range == ColorRange::Video;
  const double chroma_scale = video ? 255.0 / 224.0 : 1.0;
  const double red = 2.0 * (1.0 - kr) * chroma_scale;
  const double blue = 2.0 * (1.0 - kb) * chroma_scale;
  return {
      .luma_offset = video ? 16.0f : 0.0f,
      .luma_scale = video ? static_cast<float>(255.0 / 219.0) : 1.0f,
      .v_to_red = static_cast<float>(red),
      .u_to_green = static_cast<float>(-blue * kb / kg),
      .v_to_green = static_cast<float>(-red * kr / kg),
      .u_to_blue = static_cast<float>(blue),
  };
}

}  // namespace het::preprocess_internal
