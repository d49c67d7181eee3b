#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/boxes/oriented_boxes.h"
#include "inference/decoders/boxes/yolo_rows.h"
#include "inference/decoders/decoder_registry.h"

namespace het {
namespace {

constexpr float kYoloV8Threshold = 0.5f;
constexpr float kYoloV8IouThreshold = 0.4f;
constexpr int64_t kYoloV8BoxValues = 4;

/// [batch, values, N], or [batch, N, values] where the cells of the input picture tell so; without
/// its size the longer side is N.
RowLayout layout_of(const Shape& shape, const InputSize& input) {
  const int64_t cells = cell_count(input);
  bool rows_last = shape[2] >= shape[1];
  if (shape[2] == cells) rows_last = true;
  if (shape[1] == cells && shape[2] != cells) rows_last = false;
  if (rows_last) return {shape[2], shape[1], 1, static_cast<size_t>(shape[2])};
  return {shape[1], shape[2], static_cast<size_t>(shape[2]), 1};
}

/// YOLO v8, v9 and v11 as Ultralytics exports them: one row for each cell: [centre x, centre y,
/// width, height] in pixels of the input picture, one score per class (after the sigmoid), then
/// for _obb the angle in radians, for _pose x, y and visibility of each point, for _seg the weights
/// of the mask prototypes [batch, masks, height, width]. Score = best class. Oriented boxes are
/// suppressed by probabilistic_iou(). Source: Ultralytics' documentation of its heads (nn/modules/
/// head: Detect, OBB, Pose, Segment) and of the export modes.
class YoloV8Decoder final : public Decoder {
 public:
  YoloV8Decoder(DecoderConfig config, RowKind kind, RowOutputs outputs)
      : config_(std::move(config)), kind_(kind), outputs_(outputs) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[outputs_.rows];
    HET_TRY(expect_shape(config_.converter, tensor, {kUnknownDim, kUnknownDim, kUnknownDim}));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const RowLayout layout = layout_of(tensor.shape(), {context.input_width, context.input_height});
    OutputValues prototype_values;
    RowParts parts;
    parts.kind = kind_;
    if (outputs_.prototypes) {
      HET_ASSIGN(parts.prototypes, read_prototypes(outputs[*outputs_.prototypes], context,
                                                   config_.converter, prototype_values));
    }
    HET_ASSIGN(const int64_t classes,
               split(layout.values, static_cast<int64_t>(parts.prototypes.count), parts));
    std::vector<Candidate> candidates =
        find(values.data(), layout, classes,
             effective_threshold(context, config_.threshold, kYoloV8Threshold));
    clip_masked(parts, context, candidates);
    Results results = to_results(candidates, config_.labels, context.transform);
    for (size_t i = 0; i < candidates.size(); ++i) {
      const float* row = values.data() + static_cast<size_t>(candidates[i].row) * layout.row_step;
      add_parts(parts, row + static_cast<size_t>(kYoloV8BoxValues + classes) * layout.value_step,
                layout.value_step, i, candidates[i], context, results.detections[i]);
    }
    drop_unmasked(parts, results.detections);
    return results;
  }

  /// Number of classes in rows of `values`; `parts` gets the division of what is behind them.
  Result<int64_t> split(int64_t values, int64_t masks, RowParts& parts) const {
    int64_t classes = values - kYoloV8BoxValues - masks;
    if (kind_ == RowKind::Turned) classes -= 1;
    if (kind_ == RowKind::Points) {
      classes = config_.classes.value_or(std::max<int>(static_cast<int>(config_.labels.size()), 1));
      HET_TRY(divide_points(config_, values - kYoloV8BoxValues - classes, parts));
    }
    if (classes < 1)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' finds no classes in rows of {} values with {} mask weights",
                   config_.converter, values, masks);
    HET_TRY(expect_labels(config_, classes));
    return classes;
  }

 private:
  std::vector<Candidate> find(const float* values, const RowLayout& layout, int64_t classes,
                              float threshold) const {
    std::vector<Candidate> candidates;
    for (int64_t n = 0; n < layout.rows; ++n) {
      const float* row = values + static_cast<size_t>(n) * layout.row_step;
      const auto value = [&](int64_t v) { return row[static_cast<size_t>(v) * layout.value_step]; };
      const BestClass best =
          best_class(row + static_cast<size_t>(kYoloV8BoxValues) * layout.value_step,
                     static_cast<size_t>(classes), layout.value_step);
      if (best.id < 0 || !(best.score >= threshold)) continue;
      candidates.push_back(
          centred_candidate(value(0), value(1), value(2), value(3), best.score, best.id, n));
      if (kind_ == RowKind::Turned) candidates.back().rotation = value(layout.values - 1);
    }
    const float least = config_.iou_threshold.value_or(kYoloV8IouThreshold);
    if (kind_ == RowKind::Turned)
      return fast_suppression(std::move(candidates), least, probabilistic_iou);
    return non_maximum_suppression(std::move(candidates), least);
  }

  DecoderConfig config_;
  RowKind kind_;
  RowOutputs outputs_;
};

template <RowKind Kind>
Result<std::unique_ptr<Decoder>> create_yolo_v8(const DecoderConfig& config,
                                                const std::vector<Port>& inputs,
                                                const std::vector<Port>& outputs) {
  HET_ASSIGN(const RowOutputs found, find_row_outputs(config, Kind, outputs));
  const Port& port = outputs[found.rows];
  const Shape& shape = port.desc.shape;
  if (shape.size() != 3 || shape[1] == kUnknownDim || shape[2] == kUnknownDim)
    return std::make_unique<YoloV8Decoder>(config, Kind, found);
  const RowLayout layout = layout_of(shape, picture_input_size(inputs));
  const int64_t masks = found.prototypes ? dimension(outputs[*found.prototypes], 1) : 0;
  RowParts parts;
  Result<int64_t> classes =
      YoloV8Decoder(config, Kind, found).split(layout.values, std::max<int64_t>(masks, 0), parts);
  if (!classes) return Failure(classes.error().with_context("output '" + port.name + "'"));
  return std::make_unique<YoloV8Decoder>(config, Kind, found);
}

}  // namespace

HET_REGISTRATION void register_yolo_v8_decoder(DecoderRegistry& registry) {
  const std::vector<std::string_view> keys{"labels", "threshold", "iou_threshold", "classes"};
  std::vector<std::string_view> pose_keys = keys;
  pose_keys.insert(pose_keys.end(), {"point_names", "point_connections"});
  for (std::string_view name : {"yolo_v8", "yolo_v9", "yolo_v11"})
    registry.add({name, keys, create_yolo_v8<RowKind::Boxes>});
  for (std::string_view name : {"yolo_v8_obb", "yolo_v11_obb"})
    registry.add({name, keys, create_yolo_v8<RowKind::Turned>});
  for (std::string_view name : {"yolo_v8_pose", "yolo_v11_pose"})
    registry.add({name, pose_keys, create_yolo_v8<RowKind::Points>});
  for (std::string_view name : {"yolo_v8_seg", "yolo_v9_seg", "yolo_v11_seg"})
    registry.add({name, keys, create_yolo_v8<RowKind::Masks>});
}

}  // namespace het
