#pragma once

#include "inference/image.h"

namespace het::preprocess_internal {

/// Coefficients of R = luma + v_to_red * (V - 128), G = luma + u_to_green * (U - 128) +
/// v_to_green * (V - 128), B = luma + u_to_blue * (U - 128), luma = (Y - luma_offset) * luma_scale;
/// each result is clamped to 0..255.
struct YuvToRgb {
  float luma_offset = 0.0f;
  float luma_scale = 1.0f;
  float v_to_red = 0.0f;
  float u_to_green = 0.0f;
  float v_to_green = 0.0f;
  float u_to_blue = 0.0f;
};

/// From the luma weights Kr and Kb of ITU-R BT.601 (0.299, 0.114) and BT.709 (0.2126, 0.0722):
/// R - luma = 2 (1 - Kr) Cr, B - luma = 2 (1 - Kb) Cb, and Kr R + Kg G + Kb B = luma. Video range
/// stretches Y by 255 / 219 from 16 on, U and V by 255 / 224.
YuvToRgb yuv_to_rgb(ColorMatrix matrix, ColorRange range);

/// Luma weights of BT.601, which turn RGB pictures into gray (as OpenCV and libjpeg do).
inline constexpr float kRedToGray = 0.299f;
inline constexpr float kGreenToGray = 0.587f;
inline constexpr float kBlueToGray = 0.114f;

}  // namespace het::preprocess_internal
