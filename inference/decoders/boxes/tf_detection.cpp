#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/boxes/tf_outputs.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kTfDetectionName = "tf_detection";
constexpr float kTfDetectionThreshold = 0.5f;

bool all_whole(const OutputValues& values) {
  return std::ranges::all_of(values.values(), [](float v) { return v == std::floor(v); });
}

/// Detectors of TensorFlow's Object Detection API and of TensorFlow Lite's post-processing
/// operator, whose suppression is in the graph: boxes [batch, N, 4] as y_min, x_min, y_max, x_max
/// in 0..1 of the picture, classes [batch, N], scores [batch, N] and their number [batch]. Classes
/// and scores are told apart by their names, else by their values: classes are whole numbers.
class TfDetectionDecoder final : public Decoder {
 public:
  TfDetectionDecoder(DecoderConfig config, TfDetectionOutputs outputs)
      : config_(std::move(config)), outputs_(outputs) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& boxes = outputs[outputs_.boxes];
    HET_TRY(expect_shape(kTfDetectionName, boxes, {kUnknownDim, kUnknownDim, 4}));
    const int64_t most = boxes.shape()[1];
    for (const size_t index : {outputs_.first, outputs_.second})
      HET_TRY(expect_shape(kTfDetectionName, outputs[index], {kUnknownDim, most}));
    HET_ASSIGN(const OutputValues corners, OutputValues::batch_item(boxes, context.batch_index));
    HET_ASSIGN(OutputValues classes,
               OutputValues::batch_item(outputs[outputs_.first], context.batch_index));
    HET_ASSIGN(OutputValues scores,
               OutputValues::batch_item(outputs[outputs_.second], context.batch_index));
    if (!outputs_.named && all_whole(scores) && !all_whole(classes)) std::swap(classes, scores);
    HET_ASSIGN(const size_t count, number_of(outputs, context, static_cast<size_t>(most)));
    const auto width = static_cast<float>(context.input_width);
    const auto height = static_cast<float>(context.input_height);
    const float threshold = effective_threshold(context, config_.threshold, kTfDetectionThreshold);
    std::vector<Candidate> candidates;
    for (size_t n = 0; n < count; ++n) {
      if (!(scores[n] >= threshold) || !is_label_id(classes[n])) continue;
      const float* box = corners.data() + 4 * n;
      candidates.push_back({box[1] * width, box[0] * height, box[3] * width, box[2] * height,
                            scores[n], static_cast<int>(classes[n])});
    }
    return to_results(sorted_by_score(std::move(candidates)), config_.labels, context.transform);
  }

 private:
  Result<size_t> number_of(std::span<const Tensor> outputs, const DecodeContext& context,
                           size_t most) const {
    if (!outputs_.count) return most;
    HET_ASSIGN(const OutputValues numbers, OutputValues::whole(outputs[*outputs_.count]));
    const auto picture = static_cast<size_t>(context.batch_index);
    if (picture >= numbers.size())
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' finds no number of objects for picture {} in {}",
                   kTfDetectionName, picture, to_string(outputs[*outputs_.count].desc()));
    const float number = numbers[picture];
    return number >= 0.0f ? static_cast<size_t>(std::min(number, static_cast<float>(most)))
                          : size_t{0};
  }

  DecoderConfig config_;
  TfDetectionOutputs outputs_;
};

Result<std::unique_ptr<Decoder>> create_tf_detection(const DecoderConfig& config,
                                                     const std::vector<Port>&,
                                                     const std::vector<Port>& outputs) {
  HET_ASSIGN(const TfDetectionOutputs found, find_tf_outputs(config, outputs));
  return std::make_unique<TfDetectionDecoder>(config, found);
}

}  // namespace

HET_REGISTRATION void register_tf_detection_decoder(DecoderRegistry& registry) {
  registry.add({kTfDetectionName, {"labels", "threshold"}, create_tf_detection});
}

}  // namespace het
