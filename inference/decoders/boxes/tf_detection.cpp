#include <algorithm>
#include <cmath>
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

constexpr std::string_view kTfDetectionName = "tf_detection";
constexpr float kTfDetectionThreshold = 0.5f;

struct TfDetectionOutputs {
  size_t boxes = 0;
  size_t first = 0;  ///< classes and scores, by names in this order
  size_t second = 0;
  bool named = false;
  std::optional<size_t> count;
};

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

bool is_called(const Port& port, std::string_view part) {
  return port.name.find(part) != std::string::npos;
}

Result<std::unique_ptr<Decoder>> create_tf_detection(const DecoderConfig& config,
                                                     const std::vector<Port>&,
                                                     const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::optional<size_t> boxes;
  std::vector<size_t> rows;
  std::optional<size_t> count;
  for (const size_t index : selected) {
    const Port& port = outputs[index];
    const Shape& shape = port.desc.shape;
    // What the API also gives: boxes before the suppression, their places, scores of all classes.
    if (is_called(port, "raw_") || is_called(port, "anchor") || is_called(port, "multiclass"))
      continue;
    if (!boxes && matches(shape, {kUnknownDim, kUnknownDim, 4})) {
      boxes = index;
    } else if (matches(shape, {kUnknownDim, kUnknownDim})) {
      rows.push_back(index);
    } else if (!count && matches(shape, {kUnknownDim})) {
      count = index;
    } else {
      boxes.reset();
      break;
    }
  }
  if (!boxes || rows.size() != 2)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads boxes [batch,N,4], classes [batch,N], scores [batch,N] and "
                 "perhaps their number [batch]; the model has {}",
                 kTfDetectionName, describe(outputs, selected));
  TfDetectionOutputs found{*boxes, rows[0], rows[1], false, count};
  const bool scores_first = is_called(outputs[rows[0]], "score") ||
                            is_called(outputs[rows[1]], "class") ||
                            is_called(outputs[rows[1]], "label");
  found.named = scores_first || is_called(outputs[rows[1]], "score") ||
                is_called(outputs[rows[0]], "class") || is_called(outputs[rows[0]], "label") ||
                !config.layer_names.empty();
  if (scores_first) std::swap(found.first, found.second);
  return std::make_unique<TfDetectionDecoder>(config, found);
}

}  // namespace

HET_REGISTRATION void register_tf_detection_decoder(DecoderRegistry& registry) {
  registry.add({kTfDetectionName, {"labels", "threshold"}, create_tf_detection});
}

}  // namespace het
