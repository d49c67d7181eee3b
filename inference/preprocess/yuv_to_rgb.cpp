#include "inference/preprocess/yuv_to_rgb.h"

#include <cmath>

namespace het::preprocess_internal {

namespace {

struct LumaWeights {
  double red;
  double blue;
};

LumaWeights luma_weights(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::BT601:
      return {0.299, 0.114};
    case ColorMatrix::BT709:
      return {0.2126, 0.0722};
    case ColorMatrix::BT2020:
      break;
  }
  return {0.2627, 0.0593};
}

}  // namespace

YuvToRgb yuv_to_rgb(ColorMatrix matrix, ColorRange range) {
  const auto [kr, kb] = luma_weights(matrix);
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
