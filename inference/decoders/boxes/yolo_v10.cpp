#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/boxes/oriented_boxes.h"
#include "inference/decoders/boxes/yolo_rows.h"
#include "inference/decoders/decoder_registry.h"

namespace het {
namespace {

constexpr float kYoloV10Threshold = 0.5f;
constexpr int64_t kYoloV10RowValues = 6;

/// YOLO v10 and v26, which need no suppression: [batch, N, 6 and more], rows [x_min, y_min, x_max,
/// y_max, score, label] in pixels of the input picture, then for _pose the points and for _seg the
/// weights of the mask prototypes. For _obb: [centre x, centre y, width, height, score, label,
/// angle in radians]. Source: YOLOv10 (arXiv 2405.14458) and Ultralytics' documentation of
/// end-to-end exports.
class YoloV10Decoder final : public Decoder {
 public:
  YoloV10Decoder(DecoderConfig config, RowKind kind, RowOutputs outputs)
      : config_(std::move(config)), kind_(kind), outputs_(outputs) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[outputs_.rows];
    HET_TRY(expect_shape(config_.converter, tensor, {kUnknownDim, kUnknownDim, kUnknownDim}));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const int64_t row_size = tensor.shape()[2];
    OutputValues prototype_values;
    RowParts parts;
    parts.kind = kind_;
    if (outputs_.prototypes) {
      HET_ASSIGN(parts.prototypes, read_prototypes(outputs[*outputs_.prototypes], context,
                                                   config_.converter, prototype_values));
    }
    HET_TRY(split(row_size, static_cast<int64_t>(parts.prototypes.count), parts));
    const float threshold = effective_threshold(context, config_.threshold, kYoloV10Threshold);
    std::vector<Candidate> candidates;
    for (int64_t n = 0; n < tensor.shape()[1]; ++n) {
      const float* row = values.data() + n * row_size;
      if (!(row[4] >= threshold) || !is_label_id(row[5])) continue;  // also drops NaN
      const auto label = static_cast<int>(row[5]);
      if (kind_ == RowKind::Turned) {
        candidates.push_back(centred_candidate(row[0], row[1], row[2], row[3], row[4], label, n));
        candidates.back().rotation = row[kYoloV10RowValues];
      } else {
        candidates.push_back({row[0], row[1], row[2], row[3], row[4], label, n});
      }
    }
    candidates = suppressed(std::move(candidates));
    clip_masked(parts, context, candidates);
    Results results = to_results(candidates, config_.labels, context.transform);
    for (size_t i = 0; i < candidates.size(); ++i)
      add_parts(parts, values.data() + candidates[i].row * row_size + kYoloV10RowValues, 1, i,
                candidates[i], context, results.detections[i]);
    drop_unmasked(parts, results.detections);
    return results;
  }

  Status split(int64_t row_size, int64_t masks, RowParts& parts) const {
    const int64_t more = row_size - kYoloV10RowValues;
    if (kind_ == RowKind::Points && more > 0) return divide_points(config_, more, parts);
    const int64_t wanted = kind_ == RowKind::Turned ? 1 : kind_ == RowKind::Masks ? masks : 0;
    if (more == wanted && kind_ != RowKind::Points) return {};
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads rows of {} values, the output's have {}", config_.converter,
                 kind_ == RowKind::Points ? "6 and two or three for each point"
                                          : std::to_string(kYoloV10RowValues + wanted),
                 row_size);
  }

 private:
  /// The networks do not repeat objects; suppression is for who asks for it.
  std::vector<Candidate> suppressed(std::vector<Candidate> candidates) const {
    if (!config_.iou_threshold) return sorted_by_score(std::move(candidates));
    return non_maximum_suppression(
        std::move(candidates), *config_.iou_threshold,
        kind_ == RowKind::Turned ? probabilistic_iou : intersection_over_union);
  }

  DecoderConfig config_;
  RowKind kind_;
  RowOutputs outputs_;
};

template <RowKind Kind>
Result<std::unique_ptr<Decoder>> create_yolo_v10(const DecoderConfig& config,
                                                 const std::vector<Port>&,
                                                 const std::vector<Port>& outputs) {
  HET_ASSIGN(const RowOutputs found, find_row_outputs(config, Kind, outputs));
  const int64_t row_size = dimension(outputs[found.rows], 2);
  const int64_t masks = found.prototypes ? dimension(outputs[*found.prototypes], 1) : 0;
  if (row_size != kUnknownDim && masks != kUnknownDim) {
    RowParts parts;
    if (Status status = YoloV10Decoder(config, Kind, found).split(row_size, masks, parts);
        !status.ok())
      return Failure(status.with_context("output '" + outputs[found.rows].name + "'"));
  }
  return std::make_unique<YoloV10Decoder>(config, Kind, found);
}

}  // namespace

HET_REGISTRATION void register_yolo_v10_decoder(DecoderRegistry& registry) {
  const std::vector<std::string_view> keys{"labels", "threshold", "iou_threshold"};
  registry.add({"yolo_v10", keys, create_yolo_v10<RowKind::Boxes>});
  registry.add({"yolo_v26", keys, create_yolo_v10<RowKind::Boxes>});
  registry.add({"yolo_v26_obb", keys, create_yolo_v10<RowKind::Turned>});
  registry.add({"yolo_v26_pose",
                {"labels", "threshold", "iou_threshold", "point_names", "point_connections"},
                create_yolo_v10<RowKind::Points>});
  registry.add({"yolo_v26_seg", keys, create_yolo_v10<RowKind::Masks>});
}

}  // namespace het
