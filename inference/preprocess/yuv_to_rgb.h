#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "inference/tensors/image.h"

namespace het::preprocess_internal {

/// R = luma + v_to_red * (V - 128), G = luma + u_to_green * (U - 128) + v_to_green * (V - 128),
/// B = luma + u_to_blue * (U - 128), luma = Y * luma_scale + luma_bias, in 16-bit numbers with six
/// binary digits behind the point, then rounded and clamped to 0..255. Each colour is within 0.55
/// levels of the exact one (rounding alone takes 0.5).
struct YuvToRgb {
  static constexpr int kPoint = 6;
  uint16_t luma_scale = 0;  ///< 14 binary digits behind the point
  int16_t luma_bias = 0;    ///< 6 digits; with the half level that rounds
  int16_t v_to_red = 0;     ///< chroma factors: 13 digits
  int16_t u_to_green = 0;
  int16_t v_to_green = 0;
  int16_t u_to_blue = 0;
};

/// From the luma weights Kr and Kb of ITU-R BT.601 (0.299, 0.114), BT.709 (0.2126, 0.0722) and
/// BT.2020 with non-constant luminance (0.2627, 0.0593):
/// R - luma = 2 (1 - Kr) Cr, B - luma = 2 (1 - Kb) Cb, and Kr R + Kg G + Kb B = luma. Video range
/// stretches Y by 255 / 219 from 16 on, U and V by 255 / 224.
YuvToRgb yuv_to_rgb(ColorMatrix matrix, ColorRange range);

/// With YuvToRgb::kPoint digits, half a level added.
inline int luma_of(const YuvToRgb& k, int y) {
  return (y * 256 * k.luma_scale >> 16) + k.luma_bias;
}

/// With YuvToRgb::kPoint digits.
inline int chroma_term(int16_t factor, int sample) {
  return ((sample - 128) * 256 * factor + (1 << 14)) >> 15;
}

inline int to_level(int value) {
  return std::clamp(value >> YuvToRgb::kPoint, 0, 255);
}

inline std::array<int, 3> rgb_of(const YuvToRgb& k, int y, int u, int v) {
  const int luma = luma_of(k, y);
  return {to_level(luma + chroma_term(k.v_to_red, v)),
          to_level(luma + chroma_term(k.u_to_green, u) + chroma_term(k.v_to_green, v)),
          to_level(luma + chroma_term(k.u_to_blue, u))};
}

/// Luma weights of BT.601, which turn RGB pictures into gray (as OpenCV and libjpeg do): 0.299,
/// 0.587 and 0.114 with 14 binary digits.
inline constexpr int kRedToGray = 4899;
inline constexpr int kGreenToGray = 9617;
inline constexpr int kBlueToGray = 1868;
inline constexpr int kGrayPoint = 14;

}  // namespace het::preprocess_internal
