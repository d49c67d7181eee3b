#include "inference/decoders/boxes/pointed_objects.h"

#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/object_parts.h"
#include "inference/decoders/output_ports.h"

namespace het {

std::optional<RowShape> row_shape(const Shape& shape, int64_t batch) {
  if (shape.size() != 3 && (shape.size() != 2 || batch > 1)) return std::nullopt;
  const RowShape rows{shape[shape.size() - 2], shape.back()};
  return rows.rows > 0 && rows.columns > 0 ? std::optional(rows) : std::nullopt;
}

Result<OutputValues> read_rows(std::string_view converter, const Tensor& tensor,
                               const RowShape& shape, const DecodeContext& context) {
  if (tensor.shape().size() == 2 && context.batch_index == 0) {
    HET_TRY(expect_shape(converter, tensor, {shape.rows, shape.columns}));
    return OutputValues::whole(tensor);
  }
  HET_TRY(expect_shape(converter, tensor, {kUnknownDim, shape.rows, shape.columns}));
  return OutputValues::batch_item(tensor, context.batch_index);
}

PointScheme face_points() {
  return {"", {"right_eye", "left_eye", "nose_tip", "right_mouth", "left_mouth"}, {}};
}

PointScheme plate_corners() {
  return {"",
          {"top_left", "top_right", "bottom_right", "bottom_left"},
          {{0, 1}, {1, 2}, {2, 3}, {3, 0}}};
}

std::span<float> PointedObjects::add(Candidate candidate) {
  candidate.row = static_cast<int64_t>(candidates_.size());
  candidates_.push_back(candidate);
  points_.resize(points_.size() + values_);
  return points(candidate.row);
}

Results PointedObjects::results(const std::vector<Candidate>& kept, const PointScheme& scheme,
                                const std::vector<std::string>& labels,
                                const PictureTransform& transform) const {
  Results found = to_results(kept, labels, transform);
  if (values_ == 0) return found;
  for (size_t i = 0; i < kept.size(); ++i)
    found.detections[i].landmarks =
        read_points(points(kept[i].row).data(), 1, {values_ / 2, 2}, scheme, kept[i], transform);
  return found;
}

}  // namespace het
