#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/points/heat_map_peak.h"

namespace het {
namespace {

Point place_itself(std::span<const float>, size_t rows, size_t columns, size_t best) {
  return {static_cast<float>(best % columns) / static_cast<float>(columns),
          static_cast<float>(best / columns) / static_cast<float>(rows)};
}

/// One heat map per point, [batch, points, rows, columns] (DL Streamer's keypoints_hrnet): a point
/// lies where its map is largest, at column / columns and row / rows of the model's picture; its
/// confidence is that value. Points at or below the threshold (0) were not found.
Result<std::unique_ptr<Decoder>> create_keypoints_hrnet(const DecoderConfig& config,
                                                        const std::vector<Port>&,
                                                        const std::vector<Port>& outputs) {
  return create_peak_decoder(config, outputs, place_itself);
}

}  // namespace

HET_REGISTRATION void register_keypoints_hrnet_decoder(DecoderRegistry& registry) {
  registry.add({"keypoints_hrnet",
                {"format", "threshold", "point_names", "point_connections"},
                create_keypoints_hrnet});
}

}  // namespace het
