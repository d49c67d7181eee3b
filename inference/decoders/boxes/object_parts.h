#pragma once

#include <cstddef>
#include <cstdint>

#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"
#include "inference/decoders/results.h"

/// What rows of YOLO models carry besides boxes and classes: joints, and masks as sums of
/// prototypes; and masks that other models give as pictures of their own.
namespace het {

/// Values of one point in a row: x, y and perhaps how visible it is.
struct PointRow {
  size_t points = 0;
  size_t values = 3;  ///< of each: 2 or 3
};

/// How the values of a row that belong to points are divided: by the number of point_names if there
/// are some, else in threes, else in twos. Fails when none fits.
Result<PointRow> point_row(const DecoderConfig& config, int64_t values);

/// Points of a row (pixels of the model's input) in source pixels. `step` is the distance of two
/// values of the row. A point that is no number becomes one of confidence 0 at the box's centre.
Landmarks read_points(const float* values, size_t step, const PointRow& row,
                      const PointScheme& scheme, const Candidate& box,
                      const PictureTransform& transform);

/// Objects that get a mask at most, the best first: bounds time and memory.
inline constexpr size_t kMaxMasks = 300;

/// Masks of a batch item: `count` pictures of width x height logits, stretched over the model's
/// input.
struct MaskPictures {
  const float* logits = nullptr;
  size_t count = 0;
  int64_t width = 0;
  int64_t height = 0;
};

/// The mask of a box (pixels of the model's input): the sigmoid of the sum of `count` pictures
/// weighted by coefficients that lie `step` apart, sampled bilinearly within the box at four times
/// the resolution of the pictures (YOLACT, arXiv 1904.02689, as Ultralytics' process_mask samples
/// and crops it). Empty when the box has no area.
Mask mask_of_box(const MaskPictures& pictures, const float* coefficients, size_t step,
                 const Candidate& box, const DecodeContext& context);

}  // namespace het
