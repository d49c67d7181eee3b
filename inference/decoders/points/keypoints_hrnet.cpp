#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/points/heat_map_peak.h"
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
    const auto position = [](std::span<const float>, size_t rows, size_t columns, size_t best) {
      return Point{static_cast<float>(best % columns) / static_cast<float>(columns),
                   static_cast<float>(best / columns) / static_cast<float>(rows)};
    };
    return peaks_of_maps(config_, scheme_, layer_, outputs[output_], context, position);
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
