#include <cmath>
#include <optional>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/detr_queries.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kRtdetrName = "rtdetr";
constexpr float kRtdetrThreshold = 0.5f;

/// RT-DETR, D-FINE and DEIM with their post-processor in the graph: labels [batch, N], boxes
/// [batch, N, 4] as x_min, y_min, x_max, y_max, scores [batch, N]. Boxes are in pixels of the size
/// that the model got as orig_target_sizes, which image_info makes the model's input picture. No
/// With `unit` relative they are shares of that picture, as the SSD of ONNX' model zoo has it. No
/// suppression: the network does not repeat objects, and two classes of one box are its answer.
/// Two outputs are those of create_detr_queries().
class RtDetrDecoder final : public Decoder {
 public:
  RtDetrDecoder(DecoderConfig config, size_t labels, size_t boxes, size_t scores)
      : config_(std::move(config)), labels_(labels), boxes_(boxes), scores_(scores) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_TRY(expect_shape(kRtdetrName, outputs[boxes_], {kUnknownDim, kUnknownDim, 4}));
    const int64_t count = outputs[boxes_].shape()[1];
    HET_TRY(expect_shape(kRtdetrName, outputs[labels_], {kUnknownDim, count}));
    HET_TRY(expect_shape(kRtdetrName, outputs[scores_], {kUnknownDim, count}));
    HET_ASSIGN(const OutputValues labels,
               OutputValues::batch_item(outputs[labels_], context.batch_index));
    HET_ASSIGN(const OutputValues boxes,
               OutputValues::batch_item(outputs[boxes_], context.batch_index));
    HET_ASSIGN(const OutputValues scores,
               OutputValues::batch_item(outputs[scores_], context.batch_index));
    const float threshold = effective_threshold(context, config_.threshold, kRtdetrThreshold);
    const bool is_relative = config_.unit == "relative";
    const float width = is_relative ? static_cast<float>(context.input_width) : 1.0f;
    const float height = is_relative ? static_cast<float>(context.input_height) : 1.0f;
    std::vector<Candidate> candidates;
    for (size_t n = 0; n < static_cast<size_t>(count); ++n) {
      if (!(scores[n] >= threshold) || !is_label_id(labels[n])) continue;
      const float* box = boxes.data() + 4 * n;
      candidates.push_back({box[0] * width, box[1] * height, box[2] * width, box[3] * height,
                            scores[n], static_cast<int>(labels[n])});
    }
    return to_results(sorted_by_score(std::move(candidates)), config_.labels, context.transform);
  }

 private:
  DecoderConfig config_;
  size_t labels_;
  size_t boxes_;
  size_t scores_;
};

Result<std::unique_ptr<Decoder>> create_rtdetr(const DecoderConfig& config,
                                               const std::vector<Port>&,
                                               const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  // Without the post-processor in the graph there are class logits and boxes.
  if (selected.size() == 2) return create_detr_queries(config, /*masks=*/false, outputs);
  std::optional<size_t> labels;
  std::optional<size_t> boxes;
  std::optional<size_t> scores;
  for (size_t index : selected) {
    const Port& port = outputs[index];
    const bool row = matches(port.desc.shape, {kUnknownDim, kUnknownDim});
    const bool unsized = is_sized_at_run_time(port);
    if (matches(port.desc.shape, {kUnknownDim, kUnknownDim, 4}) ||
        (unsized && port.name == "boxes"))
      boxes = index;
    else if ((row && is_integer(port.desc.type)) || (unsized && port.name == "labels"))
      labels = index;
    else if ((row && is_float(port.desc.type)) || (unsized && port.name == "scores"))
      scores = index;
  }
  if (selected.size() != 3 || !labels || !boxes || !scores)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads labels [batch,N] (integers), boxes [batch,N,4] and scores "
                 "[batch,N], or class logits and boxes; the model has {}",
                 kRtdetrName, describe(outputs, selected));
  return std::make_unique<RtDetrDecoder>(config, *labels, *boxes, *scores);
}

}  // namespace

HET_REGISTRATION void register_rtdetr_decoder(DecoderRegistry& registry) {
  registry.add({kRtdetrName, {"labels", "threshold", "do_cls_softmax", "unit"}, create_rtdetr});
}

}  // namespace het
