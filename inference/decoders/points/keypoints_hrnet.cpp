#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"

namespace het {
namespace {

constexpr std::string_view kKeypointsHrnetName = "keypoints_hrnet";

/// One heat map per point, [batch, points, rows, columns] (DL Streamer's keypoints_hrnet): a point
/// lies where its map is largest, at column / columns and row / rows of the model's picture; its
/// confidence is that value. Points at or below the threshold (0) were not found.
class HrnetDecoder final : public Decoder {
 public:
  HrnetDecoder(DecoderConfig config, PointScheme scheme, size_t output, std::string layer)
      : config_(std::move(config)),
        scheme_(std::move(scheme)),
        output_(output),
        layer_(std::move(layer)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_TRY(expect_shape(kKeypointsHrnetName, tensor,
                         {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const auto points = static_cast<size_t>(tensor.shape()[1]);
    const auto columns = static_cast<size_t>(tensor.shape()[3]);
    const size_t cells = static_cast<size_t>(tensor.shape()[2]) * columns;
    Results results;
    if (points == 0 || cells == 0) return results;
    const float threshold = effective_threshold(context, config_.threshold, 0.0f);
    Keypoints found = empty_keypoints(scheme_, layer_, points);
    float sum = 0.0f;
    size_t count = 0;
    for (size_t p = 0; p < points; ++p) {
      const std::span<const float> map = values.values().subspan(p * cells, cells);
      size_t best = cells;
      for (size_t cell = 0; cell < cells; ++cell) {
        if (std::isfinite(map[cell]) && (best == cells || map[cell] > map[best])) best = cell;
      }
      if (best == cells || !(map[best] > threshold)) continue;
      const auto x = static_cast<float>(best % columns) / static_cast<float>(columns);
      const auto y = static_cast<float>(best / columns) / static_cast<float>(tensor.shape()[2]);
      const Point position =
          to_source(x * static_cast<float>(context.input_width),
                    y * static_cast<float>(context.input_height), context.transform);
      set_point(found, p, position, map[best]);
      sum += found.landmarks.confidences[p];
      ++count;
    }
    if (count == 0) return results;
    found.confidence = sum / static_cast<float>(count);
    results.keypoints.push_back(std::move(found));
    return results;
  }

 private:
  DecoderConfig config_;
  PointScheme scheme_;
  size_t output_;
  std::string layer_;
};

Result<std::unique_ptr<Decoder>> create_keypoints_hrnet(const DecoderConfig& config,
                                                        const std::vector<Port>&,
                                                        const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  const Port& port = outputs[output];
  HET_TRY(expect_shape(kKeypointsHrnetName, port,
                       {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
  HET_ASSIGN(PointScheme scheme, point_scheme(config, dimension(port, 1), coco_body()));
  return std::make_unique<HrnetDecoder>(config, std::move(scheme), output, port.name);
}

}  // namespace

HET_REGISTRATION void register_keypoints_hrnet_decoder(DecoderRegistry& registry) {
  registry.add({kKeypointsHrnetName,
                {"format", "threshold", "point_names", "point_connections"},
                create_keypoints_hrnet});
}

}  // namespace het
