#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kBoxesScoresName = "boxes_scores";
constexpr float kBoxesScoresThreshold = 0.5f;
constexpr float kBoxesScoresIouThreshold = 0.4f;

enum class BoxFormat { Xywh, Xyxy, Cxcywh };

/// Columns that boxes of this shape may have: 5 where they have 5, else 4.
int64_t columns_of(const Shape& shape) {
  return shape.size() == 3 && shape[2] == 5 ? 5 : 4;
}

/// Two outputs: boxes [batch, N, 4] as shares of the input picture, or in its pixels, and scores
/// [batch, N, classes]; a fifth column of the boxes is a confidence that the scores are multiplied
/// by. Every class but the background that reaches the threshold gives an object, so one box may
/// have several labels (UltraFace's own post-processing).
class BoxesScoresDecoder final : public Decoder {
 public:
  BoxesScoresDecoder(DecoderConfig config, BoxFormat format, size_t boxes, size_t scores)
      : config_(std::move(config)), format_(format), boxes_(boxes), scores_(scores) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_TRY(expect_shape(kBoxesScoresName, outputs[boxes_],
                         {kUnknownDim, kUnknownDim, columns_of(outputs[boxes_].shape())}));
    const int64_t count = outputs[boxes_].shape()[1];
    const int64_t columns = outputs[boxes_].shape()[2];
    HET_TRY(expect_shape(kBoxesScoresName, outputs[scores_], {kUnknownDim, count, kUnknownDim}));
    const auto classes = static_cast<size_t>(outputs[scores_].shape()[2]);
    HET_ASSIGN(const OutputValues boxes,
               OutputValues::batch_item(outputs[boxes_], context.batch_index));
    HET_ASSIGN(const OutputValues scores,
               OutputValues::batch_item(outputs[scores_], context.batch_index));

    const float threshold = effective_threshold(context, config_.threshold, kBoxesScoresThreshold);
    std::vector<Candidate> candidates;
    std::vector<float> probabilities(classes);
    for (int64_t n = 0; n < count; ++n) {
      const float* row = scores.data() + static_cast<size_t>(n) * classes;
      if (config_.class_softmax) {
        std::copy_n(row, classes, probabilities.begin());
        softmax(probabilities);
        row = probabilities.data();
      }
      const float* box = boxes.data() + n * columns;
      const float confidence = columns > 4 ? box[4] : 1.0f;
      for (size_t c = 0; c < classes; ++c) {
        const auto label_id = static_cast<int>(c);
        const float score = row[c] * confidence;
        if (!(score >= threshold) || config_.background_class == label_id) continue;
        candidates.push_back(make_candidate(box, score, label_id, context));
      }
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kBoxesScoresIouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  Candidate make_candidate(const float* box, float score, int label_id,
                           const DecodeContext& context) const {
    const bool in_pixels = config_.unit == "pixels";
    const float width = in_pixels ? 1.0f : static_cast<float>(context.input_width);
    const float height = in_pixels ? 1.0f : static_cast<float>(context.input_height);
    float x_min = box[0];
    float y_min = box[1];
    float x_max = box[2];
    float y_max = box[3];
    if (format_ == BoxFormat::Xywh) {
      x_max = box[0] + box[2];
      y_max = box[1] + box[3];
    } else if (format_ == BoxFormat::Cxcywh) {
      x_min = box[0] - box[2] / 2.0f;
      y_min = box[1] - box[3] / 2.0f;
      x_max = box[0] + box[2] / 2.0f;
      y_max = box[1] + box[3] / 2.0f;
    }
    return {x_min * width, y_min * height, x_max * width, y_max * height, score, label_id};
  }

  DecoderConfig config_;
  BoxFormat format_;
  size_t boxes_;
  size_t scores_;
};

Result<BoxFormat> parse_box_format(const std::string& text) {
  if (text.empty() || text == "xywh") return BoxFormat::Xywh;
  if (text == "xyxy") return BoxFormat::Xyxy;
  if (text == "cxcywh") return BoxFormat::Cxcywh;
  return error(StatusCode::InvalidArgument, "box_format '{}' is none of xywh, xyxy, cxcywh", text);
}

Result<std::unique_ptr<Decoder>> create_boxes_scores(const DecoderConfig& config,
                                                     const std::vector<Port>&,
                                                     const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  HET_ASSIGN(const BoxFormat format, parse_box_format(config.box_format));
  const auto box_shape = [](const Port& port) {
    return Shape{kUnknownDim, kUnknownDim, columns_of(port.desc.shape)};
  };
  if (selected.size() != 2)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads two outputs, boxes and scores, the model has {}",
                 kBoxesScoresName, describe(outputs, selected));
  // Where both shapes fit (four classes, or sized at run time) the name decides, then the order.
  size_t boxes = selected[0];
  size_t scores = selected[1];
  const auto fits = [&](size_t index) {
    return is_sized_at_run_time(outputs[index]) ||
           matches(outputs[index].desc.shape, box_shape(outputs[index]));
  };
  if (fits(scores) && (!fits(boxes) || outputs[scores].name.find("box") != std::string::npos))
    std::swap(boxes, scores);
  HET_TRY(expect_shape(kBoxesScoresName, outputs[boxes], box_shape(outputs[boxes])));
  const Shape score_shape{kUnknownDim, dimension(outputs[boxes], 1), kUnknownDim};
  HET_TRY(expect_shape(kBoxesScoresName, outputs[scores], score_shape));
  const int64_t classes = dimension(outputs[scores], 2);
  HET_TRY(expect_labels(config, classes));
  if (classes != kUnknownDim &&
      config.background_class.value_or(0) >= std::max<int64_t>(classes, 1))
    return error(StatusCode::InvalidArgument,
                 "background_class {} is none of the {} classes of output '{}'",
                 *config.background_class, classes, outputs[scores].name);
  return std::make_unique<BoxesScoresDecoder>(config, format, boxes, scores);
}

}  // namespace

HET_REGISTRATION void register_boxes_scores_decoder(DecoderRegistry& registry) {
  registry.add({kBoxesScoresName,
                {"labels", "threshold", "iou_threshold", "classes", "box_format",
                 "background_class", "do_cls_softmax", "unit"},
                create_boxes_scores});
}

}  // namespace het
