#include <algorithm>
#include <cmath>

#include "inference/ops/windows/resize.h"

namespace het {
namespace {

int64_t nearest_index(ResizeRounding rounding, double x) {
  // Scales are floats: 3 / 0.33333334f must count as 9, and a tie as a tie.
  const double doubled = std::nearbyint(2 * x);
  if (std::fabs(2 * x - doubled) < 1e-6 * std::max(1.0, std::fabs(x))) x = doubled / 2;
  switch (rounding) {
    case ResizeRounding::PreferFloor:
      return static_cast<int64_t>(std::ceil(x - 0.5));
    case ResizeRounding::PreferCeil:
      return static_cast<int64_t>(std::floor(x + 0.5));
    case ResizeRounding::Floor:
      return static_cast<int64_t>(std::floor(x));
    case ResizeRounding::Ceil:
      return static_cast<int64_t>(std::ceil(x));
  }
  return 0;
}

double linear_weight(double distance) {
  return std::max(0.0, 1 - std::fabs(distance));
}

/// Keys, "Cubic convolution interpolation for digital image processing", equation (4).
double cubic_weight(double distance, double a) {
  const double x = std::fabs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace

double resize_coordinate(ResizeCoordinates coordinates, const ResizeDim& dim, int64_t position) {
  const auto x = static_cast<double>(position);
  const auto in = static_cast<double>(dim.in);
  // Multiplying first keeps positions that fall on an element exact.
  const auto half_pixel = [&] { return (x + 0.5) * in / dim.exact_out - 0.5; };
  switch (coordinates) {
    case ResizeCoordinates::HalfPixel:
      return half_pixel();
    case ResizeCoordinates::HalfPixelSymmetric:
      return in / 2 * (1 - static_cast<double>(dim.out) / dim.exact_out) + half_pixel();
    case ResizeCoordinates::PytorchHalfPixel:
      return dim.out > 1 ? half_pixel() : 0;
    case ResizeCoordinates::AlignCorners:
      return dim.exact_out == 1 ? 0 : x * (in - 1) / (dim.exact_out - 1);
    case ResizeCoordinates::Asymmetric:
      return x * in / dim.exact_out;
    case ResizeCoordinates::TfHalfPixelForNn:
      return (x + 0.5) * in / dim.exact_out;
    case ResizeCoordinates::TfCropAndResize:
      if (dim.exact_out == 1) return 0.5 * (dim.roi_start + dim.roi_end) * (in - 1);
      return dim.roi_start * (in - 1) +
             x * (dim.roi_end - dim.roi_start) * (in - 1) / (dim.exact_out - 1);
  }
  return x;
}

ResizeTaps resize_taps(const ResizeSettings& settings, const ResizeDim& dim) {
  const bool nearest = settings.mode == ResizeInterpolation::Nearest;
  // Antialiasing stretches the filter by what the picture shrinks.
  const double stretch = settings.antialias && !nearest ? std::max(1.0, 1 / dim.scale) : 1.0;
  const double radius = (settings.mode == ResizeInterpolation::Linear ? 1 : 2) * stretch;
  ResizeTaps result;
  result.taps = nearest ? 1 : 2 * static_cast<size_t>(std::ceil(radius));
  const auto outputs = static_cast<size_t>(dim.out);
  result.index.resize(outputs * result.taps);
  result.weight.resize(outputs * result.taps, 1.0);
  result.outside.resize(outputs);
  const int64_t last = dim.in - 1;
  for (size_t out = 0; out < outputs; ++out) {
    // Beyond any element a coordinate only has to stay outside; far ones would not fit an integer.
    const double raw = resize_coordinate(settings.coordinates, dim, static_cast<int64_t>(out));
    const double margin = 2 * radius + 2;
    const double x =
        std::isnan(raw) ? 0 : std::clamp(raw, -margin, static_cast<double>(last) + margin);
    if (settings.coordinates == ResizeCoordinates::TfCropAndResize) {
      result.outside[out] = !(raw >= 0 && raw <= static_cast<double>(last));
    }
    int64_t* index = &result.index[out * result.taps];
    if (nearest) {
      *index = std::clamp<int64_t>(nearest_index(settings.rounding, x), 0, last);
      continue;
    }
    double* weight = &result.weight[out * result.taps];
    const auto first =
        static_cast<int64_t>(std::floor(x)) + 1 - static_cast<int64_t>(result.taps / 2);
    double sum = 0;
    for (size_t t = 0; t < result.taps; ++t) {
      const int64_t i = first + static_cast<int64_t>(t);
      const double distance = (static_cast<double>(i) - x) / stretch;
      weight[t] = settings.mode == ResizeInterpolation::Linear
                      ? linear_weight(distance)
                      : cubic_weight(distance, settings.cubic_a);
      if (settings.exclude_outside && (i < 0 || i > last)) weight[t] = 0;
      sum += weight[t];
      index[t] = std::clamp<int64_t>(i, 0, last);
    }
    for (size_t t = 0; t < result.taps && sum != 0; ++t) weight[t] /= sum;
  }
  return result;
}

}  // namespace het
