#include "inference/decoders/boxes/yolo_rows.h"

#include <algorithm>

namespace het {

Result<RowOutputs> find_row_outputs(const DecoderConfig& config, RowKind kind,
                                    const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::vector<size_t> rows;
  std::vector<size_t> pictures;
  for (size_t index : selected) {
    const Port& port = outputs[index];
    if (port.desc.shape.size() == 4)
      pictures.push_back(index);
    else if (port.desc.shape.size() == 3 || is_sized_at_run_time(port))
      rows.push_back(index);
  }
  RowOutputs found;
  if (rows.size() == 1 && kind != RowKind::Masks) {
    found.rows = rows.front();
    return found;
  }
  if (rows.size() == 1 && pictures.size() == 1) {
    found.rows = rows.front();
    found.prototypes = pictures.front();
    return found;
  }
  return error(StatusCode::ShapeMismatch,
               "converter '{}' reads {}, the model has {}; name what it shall read with "
               "layer_names",
               config.converter,
               kind == RowKind::Masks
                   ? "one output of rank 3 and mask prototypes [batch,masks,height,width]"
                   : "one output of rank 3",
               describe(outputs, selected));
}

Result<MaskPictures> read_prototypes(const Tensor& tensor, const DecodeContext& context,
                                     std::string_view converter, OutputValues& values) {
  HET_TRY(expect_shape(converter, tensor, {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
  HET_ASSIGN(values, OutputValues::batch_item(tensor, context.batch_index));
  return MaskPictures{values.data(), static_cast<size_t>(tensor.shape()[1]), tensor.shape()[3],
                      tensor.shape()[2]};
}

Status divide_points(const DecoderConfig& config, int64_t values, RowParts& parts) {
  HET_ASSIGN(parts.points, point_row(config, values));
  HET_ASSIGN(parts.scheme,
             point_scheme(config, static_cast<int64_t>(parts.points.points), coco_body()));
  return {};
}

void clip_masked(const RowParts& parts, const DecodeContext& context,
                 std::vector<Candidate>& candidates) {
  if (parts.kind != RowKind::Masks) return;
  const auto width = static_cast<float>(context.input_width);
  const auto height = static_cast<float>(context.input_height);
  for (Candidate& box : candidates) {
    box.x_min = std::clamp(box.x_min, 0.0f, width);
    box.x_max = std::clamp(box.x_max, 0.0f, width);
    box.y_min = std::clamp(box.y_min, 0.0f, height);
    box.y_max = std::clamp(box.y_max, 0.0f, height);
  }
}

void drop_unmasked(const RowParts& parts, std::vector<Detection>& detections) {
  if (parts.kind != RowKind::Masks) return;
  // Those behind have no mask that would tell.
  const auto masked = static_cast<std::ptrdiff_t>(std::min(detections.size(), kMaxMasks));
  const auto end = detections.begin() + masked;
  const auto left = std::remove_if(detections.begin(), end, [](const Detection& detection) {
    return std::ranges::none_of(detection.mask.values, [](float value) { return value >= 0.5f; });
  });
  detections.erase(left, end);
}

void add_parts(const RowParts& parts, const float* values, size_t step, size_t index,
               const Candidate& box, const DecodeContext& context, Detection& detection) {
  if (parts.kind == RowKind::Points)
    detection.landmarks =
        read_points(values, step, parts.points, parts.scheme, box, context.transform);
  if (parts.kind == RowKind::Masks && index < kMaxMasks)
    detection.mask = mask_of_box(parts.prototypes, values, step, box, context);
}

}  // namespace het
