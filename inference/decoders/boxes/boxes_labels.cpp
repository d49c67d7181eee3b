#include <optional>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr float kBoxesLabelsThreshold = 0.5f;
constexpr float kBoxesLabelsIouThreshold = 0.4f;
constexpr int64_t kBoxesLabelsRowValues = 5;

/// Outputs of Open Model Zoo's ATSS and FCOS models: boxes [N, 5] or [batch, N, 5] with rows
/// [x_min, y_min, x_max, y_max, confidence] in pixels of the input picture, and labels [N] or
/// [batch, N]; without labels (converter `boxes`) all objects are of class 0.
class BoxesLabelsDecoder final : public Decoder {
 public:
  BoxesLabelsDecoder(DecoderConfig config, size_t boxes, std::optional<size_t> labels)
      : config_(std::move(config)), boxes_(boxes), labels_(labels) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_ASSIGN(const OutputValues boxes, read(outputs[boxes_], 3, context.batch_index));
    const size_t count = boxes.size() / kBoxesLabelsRowValues;
    OutputValues labels;
    if (labels_) {
      HET_ASSIGN(labels, read(outputs[*labels_], 2, context.batch_index));
    }
    if (boxes.size() != count * kBoxesLabelsRowValues || (labels_ && labels.size() != count))
      return error(StatusCode::ShapeMismatch, "converter '{}' got boxes {}{}", config_.converter,
                   to_string(outputs[boxes_].desc()),
                   labels_ ? " and labels " + to_string(outputs[*labels_].desc()) : "");
    const float threshold = effective_threshold(context, config_.threshold, kBoxesLabelsThreshold);
    std::vector<Candidate> candidates;
    for (size_t n = 0; n < count; ++n) {
      const float* row = boxes.data() + n * kBoxesLabelsRowValues;
      const float label = labels_ ? labels[n] : 0.0f;
      if (!(row[4] >= threshold) || !is_label_id(label)) continue;
      candidates.push_back({row[0], row[1], row[2], row[3], row[4], static_cast<int>(label)});
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kBoxesLabelsIouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  /// One rank less than `batched_rank` means that there is no batch dimension.
  Result<OutputValues> read(const Tensor& tensor, int64_t batched_rank, int64_t batch_index) const {
    if (tensor.rank() == batched_rank) return OutputValues::batch_item(tensor, batch_index);
    if (batch_index != 0)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' finds no batch dimension in {}, item {} was asked for",
                   config_.converter, to_string(tensor.desc()), batch_index);
    return OutputValues::whole(tensor);
  }

  DecoderConfig config_;
  size_t boxes_;
  std::optional<size_t> labels_;
};

bool holds_boxes(const Port& port) {
  return matches(port.desc.shape, {kUnknownDim, kBoxesLabelsRowValues}) ||
         matches(port.desc.shape, {kUnknownDim, kUnknownDim, kBoxesLabelsRowValues});
}

bool holds_labels(const Port& port, const Port& boxes) {
  Shape shape = boxes.desc.shape;
  shape.pop_back();
  return matches(port.desc.shape, shape);
}

Result<std::unique_ptr<Decoder>> create_boxes_labels(const DecoderConfig& config,
                                                     const std::vector<Port>&,
                                                     const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  for (size_t boxes : selected) {
    if (!holds_boxes(outputs[boxes])) continue;
    for (size_t labels : selected) {
      if (labels != boxes && holds_labels(outputs[labels], outputs[boxes]))
        return std::make_unique<BoxesLabelsDecoder>(config, boxes, labels);
    }
  }
  return error(
      StatusCode::ShapeMismatch,
      "converter '{}' reads boxes [N,5] and labels [N] (or with a batch dimension before), "
      "the model has {}",
      config.converter, describe(outputs, selected));
}

Result<std::unique_ptr<Decoder>> create_boxes(const DecoderConfig& config, const std::vector<Port>&,
                                              const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t boxes, select_single_output(config, outputs));
  if (!holds_boxes(outputs[boxes]))
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads boxes [N,5] or [batch,N,5], '{}' is {}", config.converter,
                 outputs[boxes].name, to_string(outputs[boxes].desc));
  return std::make_unique<BoxesLabelsDecoder>(config, boxes, std::nullopt);
}

}  // namespace

HET_REGISTRATION void register_boxes_labels_decoder(DecoderRegistry& registry) {
  registry.add({"boxes", {"labels", "threshold", "iou_threshold"}, create_boxes});
  registry.add({"boxes_labels", {"labels", "threshold", "iou_threshold"}, create_boxes_labels});
}

}  // namespace het
