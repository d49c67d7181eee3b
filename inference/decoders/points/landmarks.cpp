#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"

namespace het {
namespace {

constexpr std::string_view kLandmarksName = "landmarks";
constexpr size_t kLandmarksMaxPoints = 4096;

/// Points by regression (landmarks-regression-retail-0009 and its relatives in Open Model Zoo):
/// each output has x and y of every point in turn, [batch, 2P], [batch, 2P, 1, 1] or [batch, P, 2],
/// in 0..1 of the model's picture. The model gives no confidence: it is 1 for finite points.
class LandmarksDecoder final : public Decoder {
 public:
  LandmarksDecoder(PointScheme scheme, std::vector<size_t> outputs, std::vector<std::string> layers)
      : scheme_(std::move(scheme)), outputs_(std::move(outputs)), layers_(std::move(layers)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    Results results;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Tensor& tensor = outputs[outputs_[i]];
      HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
      const size_t points = values.size() / 2;
      if (values.size() % 2 != 0 || points == 0 || points > kLandmarksMaxPoints)
        return error(StatusCode::ShapeMismatch,
                     "converter '{}' reads x and y of 1 to {} points, {} has {} values per picture",
                     kLandmarksName, kLandmarksMaxPoints, to_string(tensor.desc()), values.size());
      Keypoints found = empty_keypoints(scheme_, layers_[i], points);
      for (size_t p = 0; p < points; ++p) {
        const float x = values[2 * p] * static_cast<float>(context.input_width);
        const float y = values[2 * p + 1] * static_cast<float>(context.input_height);
        set_point(found, p, to_source(x, y, context.transform), 1.0f);
      }
      found.confidence = 1.0f;
      results.keypoints.push_back(std::move(found));
    }
    return results;
  }

 private:
  PointScheme scheme_;
  std::vector<size_t> outputs_;
  std::vector<std::string> layers_;
};

Result<std::unique_ptr<Decoder>> create_landmarks(const DecoderConfig& config,
                                                  const std::vector<Port>&,
                                                  const std::vector<Port>& outputs) {
  HET_ASSIGN(std::vector<size_t> selected, select_outputs(config, outputs));
  PointScheme standard;
  standard.format = "landmark_points";
  PointScheme scheme = standard;
  std::vector<std::string> layers;
  for (size_t index : selected) {
    const Port& port = outputs[index];
    layers.push_back(port.name);
    int64_t points = kUnknownDim;
    if (is_static(port.desc.shape) && port.desc.shape.size() > 1) {
      const int64_t values = element_count(std::span<const int64_t>(port.desc.shape).subspan(1));
      if (values % 2 != 0)
        return error(StatusCode::ShapeMismatch,
                     "converter '{}' reads x and y of each point, '{}' is {}", kLandmarksName,
                     port.name, to_string(port.desc));
      points = values / 2;
    }
    HET_ASSIGN(scheme, point_scheme(config, points, standard));
  }
  if (scheme.format.empty()) scheme.format = standard.format;
  return std::make_unique<LandmarksDecoder>(std::move(scheme), std::move(selected),
                                            std::move(layers));
}

}  // namespace

HET_REGISTRATION void register_landmarks_decoder(DecoderRegistry& registry) {
  registry.add({kLandmarksName, {"format", "point_names", "point_connections"}, create_landmarks});
}

}  // namespace het
