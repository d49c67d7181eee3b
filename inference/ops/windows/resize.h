#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/attributes.h"
#include "inference/tensors/shape.h"
#include "inference/tensors/tensor.h"

namespace het {

enum class ResizeInterpolation { Nearest, Linear, Cubic };
enum class ResizeCoordinates {
  HalfPixel,
  HalfPixelSymmetric,
  PytorchHalfPixel,
  AlignCorners,
  Asymmetric,
  TfCropAndResize,
  TfHalfPixelForNn,  ///< of opset 11, since removed: (x + 0.5) / scale
};
enum class ResizeRounding { PreferFloor, PreferCeil, Floor, Ceil };
enum class ResizeAspect { Stretch, NotLarger, NotSmaller };

/// Resize's attributes.
struct ResizeSettings {
  ResizeInterpolation mode = ResizeInterpolation::Nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::HalfPixel;
  ResizeRounding rounding = ResizeRounding::PreferFloor;
  ResizeAspect aspect = ResizeAspect::Stretch;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  double extrapolation_value = 0;
  std::vector<int64_t> axes;  ///< as given; empty: all
};

Result<ResizeSettings> resize_settings(const Attributes& attributes);

/// How one dimension is resized.
struct ResizeDim {
  int64_t in = 0;
  int64_t out = 0;
  double scale = 1;  ///< not always out / in: out is rounded
  /// scale * in, the exact length that `out` is rounded from; equals `out` when sizes were given.
  double exact_out = 0;
  double roi_start = 0;
  double roi_end = 1;

  /// True when the dimension passes unchanged.
  bool is_identity(ResizeCoordinates coordinates) const;
};

/// One entry per dimension of the input, from Resize's inputs 1 to 3 (null or empty: omitted).
/// Exactly one of scales and sizes must be given; roi is read for TfCropAndResize only and does not
/// change the output's size, as in ONNX' own shape inference.
Result<std::vector<ResizeDim>> resize_dims(const ResizeSettings& settings, const Shape& input,
                                           const Tensor* roi, const Tensor* scales,
                                           const Tensor* sizes);

/// Position in the input, in elements, of position `x` of the output: ONNX'
/// coordinate_transformation_mode.
double resize_coordinate(ResizeCoordinates coordinates, const ResizeDim& dim, int64_t x);

/// The inputs that one dimension's outputs are made from: output x is the sum over t < taps of
/// weight[x * taps + t] * input[index[x * taps + t]]; indices lie inside the dimension.
struct ResizeTaps {
  size_t taps = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
  /// TfCropAndResize only: outputs that get the extrapolation value instead.
  std::vector<bool> outside;
};

/// Taps of a dimension with in > 0. Weights sum to 1; Nearest has one tap of weight 1.
ResizeTaps resize_taps(const ResizeSettings& settings, const ResizeDim& dim);

}  // namespace het
