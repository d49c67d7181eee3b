#include <algorithm>
#include <optional>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"
#include "inference/decoders/slice.h"

namespace het {
namespace {

constexpr std::string_view kLandmarksName = "landmarks";
constexpr size_t kLandmarksMaxPoints = 4096;
constexpr float kPresenceThreshold = 0.5f;

/// Points by regression: each output has the values of every point in turn, [batch, N] with any
/// further dimensions. Two values are x and y (landmarks-regression-retail-0009 and its relatives
/// in Open Model Zoo); three end with a depth; five with a depth and the logits of visibility and
/// presence, as MediaPipe's TensorsToLandmarksCalculator reads them: the confidence of a point is
/// the sigmoid of its visibility. `unit` is relative (0..1 over the model's picture), centred
/// (-1..1, InsightFace's) or pixels of the model's picture; depths stay in the model's unit.
/// Where `presence_layer` names an output of one value, that is the confidence (its sigmoid with
/// output_sigmoid_activation), and below the threshold (0.5) nothing was found; else confidences
/// are 1 for finite points.
class LandmarksDecoder final : public Decoder {
 public:
  LandmarksDecoder(DecoderConfig config, PointScheme scheme, std::vector<size_t> outputs,
                   std::vector<std::string> layers, std::optional<size_t> presence)
      : config_(std::move(config)),
        scheme_(std::move(scheme)),
        outputs_(std::move(outputs)),
        layers_(std::move(layers)),
        presence_(presence) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    Results results;
    float confidence = 1.0f;
    if (presence_) {
      HET_ASSIGN(confidence, presence(outputs[*presence_], context));
      const float threshold = effective_threshold(context, config_.threshold, kPresenceThreshold);
      if (!(confidence >= threshold)) return results;
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      HET_ASSIGN(Keypoints found, read(outputs[outputs_[i]], layers_[i], confidence, context));
      results.keypoints.push_back(std::move(found));
    }
    return results;
  }

 private:
  Result<float> presence(const Tensor& tensor, const DecodeContext& context) const {
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    if (values.size() != 1)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads one value per picture from presence_layer, {} has {}",
                   kLandmarksName, to_string(tensor.desc()), values.size());
    return config_.sigmoid_activation ? sigmoid(values[0]) : values[0];
  }

  Result<Keypoints> read(const Tensor& tensor, const std::string& layer, float confidence,
                         const DecodeContext& context) const {
    HET_ASSIGN(const OutputValues values, vector_values(config_, tensor, context.batch_index));
    const auto step = static_cast<size_t>(config_.values_per_point);
    const size_t points = values.size() / step;
    if (values.size() % step != 0 || points == 0 || points > kLandmarksMaxPoints)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads {} values of each of 1 to {} points, {} has {} values "
                   "per picture",
                   kLandmarksName, step, kLandmarksMaxPoints, to_string(tensor.desc()),
                   values.size());
    Keypoints found = empty_keypoints(scheme_, layer, points);
    float sum = 0.0f;
    for (size_t p = 0; p < points; ++p) {
      const float* point = values.data() + step * p;
      const float visibility = step == 5 ? sigmoid(point[3]) : confidence;
      set_point(found, p,
                to_source(in_pixels(point[0], context.input_width),
                          in_pixels(point[1], context.input_height), context.transform),
                visibility);
      if (step > 2) found.depths.push_back(point[2]);
      sum += found.landmarks.confidences[p];
    }
    found.confidence =
        step == 5 && !presence_ ? sum / static_cast<float>(points) : std::min(confidence, 1.0f);
    return found;
  }

  float in_pixels(float value, int size) const {
    if (config_.unit == "pixels") return value;
    const auto side = static_cast<float>(size);
    return config_.unit == "centred" ? (value + 1.0f) / 2.0f * side : value * side;
  }

  DecoderConfig config_;
  PointScheme scheme_;
  std::vector<size_t> outputs_;
  std::vector<std::string> layers_;
  std::optional<size_t> presence_;
};

/// The output that presence_layer names; without layer_names it is none of those with points.
Result<std::optional<size_t>> find_presence(const DecoderConfig& config,
                                            const std::vector<Port>& outputs,
                                            std::vector<size_t>& selected) {
  if (config.presence_layer.empty()) return std::optional<size_t>();
  DecoderConfig named = config;
  named.layer_names = {config.presence_layer};
  HET_ASSIGN(const std::vector<size_t> found, select_outputs(named, outputs));
  if (config.layer_names.empty()) std::erase(selected, found.front());
  const Shape& shape = outputs[found.front()].desc.shape;
  const bool is_one = !is_static(shape) || element_count(shape) == (shape.empty() ? 1 : shape[0]);
  if (is_one && !selected.empty()) return std::optional(found.front());
  return error(StatusCode::ShapeMismatch,
               "converter '{}' reads one value per picture from presence_layer and points from "
               "another output; '{}' is {}",
               kLandmarksName, config.presence_layer, to_string(outputs[found.front()].desc));
}

Result<std::unique_ptr<Decoder>> create_landmarks(const DecoderConfig& config,
                                                  const std::vector<Port>& inputs,
                                                  const std::vector<Port>& outputs) {
  HET_ASSIGN(std::vector<size_t> selected, select_outputs(config, outputs));
  HET_ASSIGN(const std::optional<size_t> presence, find_presence(config, outputs, selected));
  PointScheme standard;
  standard.format = "landmark_points";
  PointScheme scheme = standard;
  std::vector<std::string> layers;
  const int64_t step = config.values_per_point;
  for (size_t index : selected) {
    const Port& port = outputs[index];
    layers.push_back(port.name);
    HET_ASSIGN(const int64_t values, sliced_count(config, inputs, port));
    if (values != kUnknownDim && values % step != 0)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads {} values of each point, '{}' is {}", kLandmarksName, step,
                   port.name, to_string(port.desc));
    const int64_t points = values == kUnknownDim ? kUnknownDim : values / step;
    HET_ASSIGN(scheme, point_scheme(config, points, standard));
  }
  if (scheme.format.empty()) scheme.format = standard.format;
  return std::make_unique<LandmarksDecoder>(config, std::move(scheme), std::move(selected),
                                            std::move(layers), presence);
}

}  // namespace

HET_REGISTRATION void register_landmarks_decoder(DecoderRegistry& registry) {
  registry.add(
      {kLandmarksName,
       {"format", "point_names", "point_connections", "slice", "layout", "values_per_point", "unit",
        "presence_layer", "output_sigmoid_activation", "threshold"},
       create_landmarks});
}

}  // namespace het
