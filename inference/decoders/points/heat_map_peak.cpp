#include "inference/decoders/points/heat_map_peak.h"

#include <cmath>
#include <string>
#include <utility>

#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"

namespace het {
namespace {

Result<Results> peaks_of_maps(const DecoderConfig& config, const PointScheme& scheme,
                              const std::string& layer, const Tensor& tensor,
                              const DecodeContext& context, PeakPosition position) {
  HET_TRY(
      expect_shape(config.converter, tensor, {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
  HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
  const auto points = static_cast<size_t>(tensor.shape()[1]);
  const auto rows = static_cast<size_t>(tensor.shape()[2]);
  const auto columns = static_cast<size_t>(tensor.shape()[3]);
  const size_t cells = rows * columns;
  Results results;
  if (points == 0 || cells == 0) return results;
  const float threshold = effective_threshold(context, config.threshold, 0.0f);
  Keypoints found = empty_keypoints(scheme, layer, points);
  float sum = 0.0f;
  size_t count = 0;
  for (size_t p = 0; p < points; ++p) {
    const std::span<const float> map = values.values().subspan(p * cells, cells);
    size_t best = cells;
    for (size_t cell = 0; cell < cells; ++cell) {
      if (std::isfinite(map[cell]) && (best == cells || map[cell] > map[best])) best = cell;
    }
    if (best == cells || !(map[best] > threshold)) continue;
    const Point place = position(map, rows, columns, best);
    set_point(found, p,
              to_source(place.x * static_cast<float>(context.input_width),
                        place.y * static_cast<float>(context.input_height), context.transform),
              map[best]);
    sum += found.landmarks.confidences[p];
    ++count;
  }
  if (count == 0) return results;
  found.confidence = sum / static_cast<float>(count);
  results.keypoints.push_back(std::move(found));
  return results;
}

class PeakDecoder final : public Decoder {
 public:
  PeakDecoder(DecoderConfig config, PointScheme scheme, size_t output, std::string layer,
              PeakPosition position)
      : config_(std::move(config)),
        scheme_(std::move(scheme)),
        output_(output),
        layer_(std::move(layer)),
        position_(position) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    return peaks_of_maps(config_, scheme_, layer_, outputs[output_], context, position_);
  }

 private:
  DecoderConfig config_;
  PointScheme scheme_;
  size_t output_;
  std::string layer_;
  PeakPosition position_;
};

}  // namespace

Result<std::unique_ptr<Decoder>> create_peak_decoder(const DecoderConfig& config,
                                                     const std::vector<Port>& outputs,
                                                     PeakPosition position) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  const Port& port = outputs[output];
  HET_TRY(
      expect_shape(config.converter, port, {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
  HET_ASSIGN(PointScheme scheme, point_scheme(config, dimension(port, 1), coco_body()));
  return std::make_unique<PeakDecoder>(config, std::move(scheme), output, port.name, position);
}

}  // namespace het
