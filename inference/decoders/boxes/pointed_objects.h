#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"

/// What converters of faces, palms and plates share: outputs with a row for each object, and points
/// that follow their object through the suppression.
namespace het {

/// Rows and columns of an output [batch, rows, columns], or [rows, columns] for one picture.
struct RowShape {
  int64_t rows = 0;
  int64_t columns = 0;
};

/// Nothing where an output has another rank, is not sized yet, or has rows of one picture only and
/// the model takes several (`batch`).
std::optional<RowShape> row_shape(const Shape& shape, int64_t batch);

/// The rows of the context's picture. Fails when the tensor has another shape.
Result<OutputValues> read_rows(std::string_view converter, const Tensor& tensor,
                               const RowShape& shape, const DecodeContext& context);

/// The five points of a face, as WIDER FACE's annotations of RetinaFace order them.
PointScheme face_points();
/// The four corners of a plate, the first at the top left, clockwise.
PointScheme plate_corners();

/// Candidates with as many points each.
class PointedObjects {
 public:
  explicit PointedObjects(size_t points) : values_(2 * points) {}

  /// Adds one; returns room for its points: x and y of each, in pixels of the model's input.
  std::span<float> add(Candidate candidate);
  const std::vector<Candidate>& candidates() const { return candidates_; }
  /// Points of a candidate, by its row.
  std::span<float> points(int64_t row) {
    return std::span(points_).subspan(static_cast<size_t>(row) * values_, values_);
  }
  std::span<const float> points(int64_t row) const {
    return std::span(points_).subspan(static_cast<size_t>(row) * values_, values_);
  }
  /// The kept ones with their points. A point that is no number lies at the centre of its box.
  Results results(const std::vector<Candidate>& kept, const PointScheme& scheme,
                  const std::vector<std::string>& labels, const PictureTransform& transform) const;

 private:
  size_t values_;
  std::vector<Candidate> candidates_;
  std::vector<float> points_;
};

}  // namespace het
