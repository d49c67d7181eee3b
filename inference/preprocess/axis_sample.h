#pragma once

#include <algorithm>
#include <cmath>

namespace het::preprocess_internal {

/// Interpolation is OpenCV's of bytes (INTER_LINEAR), digit by digit: weights are whole 2048ths; of
/// a weighted sum of a row 7 binary digits are kept behind the point, and of the weighted sums of
/// two rows two each, which are added and rounded to a level.
inline constexpr int kWeightOne = 2048;
inline constexpr int kRowShift = 4;      ///< 2048ths of a level to 128ths
inline constexpr int kColumnShift = 16;  ///< 2048ths of 128ths to quarters
inline constexpr int kLevelShift = 2;

/// The two source samples that one target position lies between, and the weight of the second in
/// 2048ths; the first has the rest.
struct AxisSample {
  int first = 0;
  int second = 0;
  int weight = 0;
};

/// Pixel centres aligned: the centre of target pixel i is at
/// (i + 0.5) * source_size / target_size - 0.5 of the source. The first and the last sample are
/// repeated beyond the ends.
inline AxisSample axis_sample(int index, int target_size, int source_size) {
  // The order of the divisions and the float are OpenCV's.
  const double scale = 1.0 / (static_cast<double>(target_size) / source_size);
  const auto position = static_cast<float>((index + 0.5) * scale - 0.5);
  const float below = std::floor(position);
  const int first = static_cast<int>(below);
  return {std::clamp(first, 0, source_size - 1), std::clamp(first + 1, 0, source_size - 1),
          static_cast<int>(std::lrint((position - below) * kWeightOne))};
}

/// One row's colour between two of its samples (levels), in 128ths of a level.
inline int mix_row(int first, int second, int weight) {
  return (first * (kWeightOne - weight) + second * weight) >> kRowShift;
}

/// The level between two rows of 128ths.
inline int mix_rows(int top, int bottom, int weight) {
  const int quarters =
      ((top * (kWeightOne - weight)) >> kColumnShift) + ((bottom * weight) >> kColumnShift);
  return std::min((quarters + 2) >> kLevelShift, 255);
}

}  // namespace het::preprocess_internal
