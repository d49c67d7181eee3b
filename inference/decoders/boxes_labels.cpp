#include <cmath>
#include <utility>

#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/detections.h"
#include "inference/decoders/nms.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kName = "boxes_labels";
constexpr float kDefaultThreshold = 0.5f;
constexpr float kDefaultIouThreshold = 0.4f;
constexpr int64_t kRowValues = 5;
constexpr float kMaxLabelId = 1e6f;

/// Two outputs of Open Model Zoo's ATSS and FCOS models: boxes [N, 5] or [batch, N, 5] with rows
/// [x_min, y_min, x_max, y_max, confidence] in pixels of the input picture, and labels [N] or
/// [batch, N].
class BoxesLabelsDecoder final : public Decoder {
 public:
  BoxesLabelsDecoder(DecoderConfig config, size_t boxes, size_t labels)
      : config_(std::move(config)), boxes_(boxes), labels_(labels) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_ASSIGN(const OutputValues boxes, read(outputs[boxes_], 3, context.batch_index));
    HET_ASSIGN(const OutputValues labels, read(outputs[labels_], 2, context.batch_index));
    if (boxes.size() != labels.size() * kRowValues)
      return error(StatusCode::ShapeMismatch, "converter '{}' got boxes {} and labels {}", kName,
                   to_string(outputs[boxes_].desc()), to_string(outputs[labels_].desc()));
    const float threshold = effective_threshold(context, config_.threshold, kDefaultThreshold);
    std::vector<Candidate> candidates;
    for (size_t n = 0; n < labels.size(); ++n) {
      const float* row = boxes.data() + n * kRowValues;
      const float label = labels[n];
      if (!(row[4] >= threshold) || !(label >= 0.0f && label <= kMaxLabelId)) continue;
      candidates.push_back({row[0], row[1], row[2], row[3], row[4], static_cast<int>(label)});
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kDefaultIouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  /// One rank less than `batched_rank` means that there is no batch dimension.
  static Result<OutputValues> read(const Tensor& tensor, int64_t batched_rank,
                                   int64_t batch_index) {
    if (tensor.rank() == batched_rank) return OutputValues::batch_item(tensor, batch_index);
    if (batch_index != 0)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' finds no batch dimension in {}, item {} was asked for", kName,
                   to_string(tensor.desc()), batch_index);
    return OutputValues::whole(tensor);
  }

  DecoderConfig config_;
  size_t boxes_;
  size_t labels_;
};

bool holds_boxes(const Port& port) {
  return matches(port.desc.shape, {kUnknownDim, kRowValues}) ||
         matches(port.desc.shape, {kUnknownDim, kUnknownDim, kRowValues});
}

bool holds_labels(const Port& port, const Port& boxes) {
  Shape shape = boxes.desc.shape;
  shape.pop_back();
  return matches(port.desc.shape, shape);
}

Result<std::unique_ptr<Decoder>> create(const DecoderConfig& config, const std::vector<Port>&,
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
      kName, describe(outputs, selected));
}

}  // namespace

void register_boxes_labels_decoder(DecoderRegistry& registry) {
  registry.add({kName, {"labels", "threshold", "iou_threshold"}, create});
}

}  // namespace het
