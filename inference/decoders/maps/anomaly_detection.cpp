#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/maps/map_output.h"
#include "inference/decoders/output_ports.h"

namespace het {
namespace {

constexpr std::string_view kAnomalyDetectionName = "AnomalyDetection";

/// A map of anomaly scores with one channel (DL Streamer's AnomalyDetection): the picture's score
/// is the largest one, clamped to 0..1; above image_threshold the second label holds, else the
/// first. Confidence: clamp((score - image_threshold) / normalization_scale + 0.5, 0, 1), 1 minus
/// that for the first label. With pixel_threshold an abnormal picture also gets a segmentation: 1
/// where the score is at least that. A second output, of one value, is the picture's score itself,
/// as anomalib exports it; networks without a map have that alone.
class AnomalyDecoder final : public PlaceValueDecoder {
 public:
  AnomalyDecoder(DecoderConfig config, size_t output, std::string attribute, std::string layer,
                 std::optional<size_t> score)
      : PlaceValueDecoder(std::move(config), output, std::move(attribute), std::move(layer)),
        score_(score) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    PlaceValues read;
    if (score_ != output_) {
      HET_ASSIGN(read, read_map(outputs, context, kAnomalyDetectionName, "score"));
    }
    const auto& [values, map] = read;
    float score = 0.0f;
    if (score_) {
      HET_ASSIGN(const OutputValues single,
                 OutputValues::batch_item(outputs[*score_], context.batch_index));
      if (single.size() == 1 && std::isfinite(single[0])) score = std::clamp(single[0], 0.0f, 1.0f);
    } else {
      for (float value : values.values()) {
        if (std::isfinite(value)) score = std::max(score, std::min(value, 1.0f));
      }
    }
    const float threshold = *config_.image_threshold;
    const bool abnormal = score > threshold;
    const float distance =
        std::clamp((score - threshold) / *config_.normalization_scale + 0.5f, 0.0f, 1.0f);
    Results results;
    Classification found;
    found.attribute = attribute_;
    found.label_id = abnormal ? 1 : 0;
    found.label = config_.labels[abnormal ? 1 : 0];
    found.confidence = abnormal ? distance : 1.0f - distance;
    results.classifications.push_back(std::move(found));
    if (abnormal && config_.pixel_threshold && score_ != output_)
      results.segmentations.push_back(mask(values.values(), map, context));
    return results;
  }

 private:
  const std::optional<size_t> score_;

  Segmentation mask(std::span<const float> values, const MapShape& map,
                    const DecodeContext& context) const {
    const SourceBox box = picture_box(context);
    Segmentation found{attribute_,
                       layer_,
                       box.low.x,
                       box.low.y,
                       box.high.x,
                       box.high.y,
                       static_cast<int>(map.columns),
                       static_cast<int>(map.rows),
                       {},
                       config_.labels};
    found.class_ids.reserve(values.size());
    for (float value : values)
      found.class_ids.push_back(value >= *config_.pixel_threshold ? uint16_t{1} : uint16_t{0});
    return found;
  }
};

Result<std::unique_ptr<Decoder>> create_anomaly_detection(const DecoderConfig& config,
                                                          const std::vector<Port>& inputs,
                                                          const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  const auto is_score = [&](size_t index) {
    const Shape& shape = outputs[index].desc.shape;
    return shape.size() <= 2 && is_float(outputs[index].desc.type) &&
           (shape.size() < 2 || shape.back() == 1);
  };
  std::optional<size_t> score;
  if (selected.size() == 2 && is_score(selected[0]) != is_score(selected[1]))
    score = selected[is_score(selected[0]) ? 0 : 1];
  const bool is_alone = selected.size() == 1 && is_score(selected[0]);
  if (is_alone) score = selected[0];
  if (selected.size() != (score && !is_alone ? 2u : 1u))
    return error(
        StatusCode::ShapeMismatch,
        "converter '{}' reads a map of scores, perhaps with the picture's score [batch,1]; "
        "the model has {}; name them in layer_names",
        kAnomalyDetectionName, describe(outputs, selected));
  const size_t output = score == selected[0] && !is_alone ? selected[1] : selected[0];
  if (!is_alone) HET_TRY(expect_map(config, inputs, outputs[output]));
  DecoderConfig complete = config;
  if (complete.labels.empty()) complete.labels = {"Normal", "Anomaly"};
  if (complete.labels.size() != 2 || !config.image_threshold || !config.normalization_scale)
    return error(
        StatusCode::InvalidArgument,
        "converter '{}' needs image_threshold, normalization_scale and two labels (normal, "
        "abnormal); there are {} labels, image_threshold is {}, normalization_scale {}",
        kAnomalyDetectionName, complete.labels.size(), config.image_threshold ? "given" : "missing",
        config.normalization_scale ? "given" : "missing");
  const std::vector<std::string> names = attribute_names(config, outputs, {output});
  return std::make_unique<AnomalyDecoder>(std::move(complete), output, names.front(),
                                          outputs[output].name, score);
}

}  // namespace

HET_REGISTRATION void register_anomaly_detection_decoder(DecoderRegistry& registry) {
  registry.add({kAnomalyDetectionName,
                {"labels", "image_threshold", "pixel_threshold", "normalization_scale", "layout"},
                create_anomaly_detection});
}

}  // namespace het
