#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"

namespace het {
namespace {

constexpr std::string_view kKeypoints3dName = "keypoints_3d";
constexpr float kCellPixels = 4.0f;

/// Points in space, [batch, points, 3] (DL Streamer's keypoints_3d): x and y in cells of 4 pixels
/// of the model's picture, depth in the same unit. The model gives no confidence: it is 1 for
/// finite points.
class Keypoints3dDecoder final : public Decoder {
 public:
  Keypoints3dDecoder(PointScheme scheme, size_t output, std::string layer)
      : scheme_(std::move(scheme)), output_(output), layer_(std::move(layer)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_TRY(expect_shape(kKeypoints3dName, tensor, {kUnknownDim, kUnknownDim, 3}));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const auto points = static_cast<size_t>(tensor.shape()[1]);
    Results results;
    if (points == 0) return results;
    Keypoints found = empty_keypoints(scheme_, layer_, points);
    for (size_t p = 0; p < points; ++p) {
      const float* point = values.data() + 3 * p;
      set_point(found, p,
                to_source(point[0] * kCellPixels, point[1] * kCellPixels, context.transform), 1.0f);
      found.depths.push_back(point[2] * kCellPixels);
    }
    found.confidence = 1.0f;
    results.keypoints.push_back(std::move(found));
    return results;
  }

 private:
  PointScheme scheme_;
  size_t output_;
  std::string layer_;
};

Result<std::unique_ptr<Decoder>> create_keypoints_3d(const DecoderConfig& config,
                                                     const std::vector<Port>&,
                                                     const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  const Port& port = outputs[output];
  HET_TRY(expect_shape(kKeypoints3dName, port, {kUnknownDim, kUnknownDim, 3}));
  HET_ASSIGN(PointScheme scheme, point_scheme(config, dimension(port, 1), {}));
  return std::make_unique<Keypoints3dDecoder>(std::move(scheme), output, port.name);
}

}  // namespace

HET_REGISTRATION void register_keypoints_3d_decoder(DecoderRegistry& registry) {
  registry.add(
      {kKeypoints3dName, {"format", "point_names", "point_connections"}, create_keypoints_3d});
}

}  // namespace het
