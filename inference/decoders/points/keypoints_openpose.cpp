#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"
#include "inference/decoders/points/pose_grouping.h"

namespace het {
namespace {

constexpr std::string_view kKeypointsOpenposeName = "keypoints_openpose";
constexpr float kKeypointsOpenposeThreshold = 0.1f;  // of peaks
constexpr int64_t kMaxMapSide = 4096;

/// Every body in the picture (DL Streamer's keypoints_openpose, human-pose-estimation-0001): heat
/// maps of 18 points, perhaps with the background as 19th, [batch, 18 or 19, rows, columns], and 38
/// part affinity fields of the same size. Found between cells without enlarging the maps, which
/// DL Streamer does by 4.
class OpenPoseDecoder final : public Decoder {
 public:
  OpenPoseDecoder(DecoderConfig config, PointScheme scheme, size_t heat_maps, size_t fields,
                  std::string layer)
      : config_(std::move(config)),
        scheme_(std::move(scheme)),
        heat_maps_(heat_maps),
        fields_(fields),
        layer_(std::move(layer)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& heat = outputs[heat_maps_];
    const Tensor& fields = outputs[fields_];
    HET_TRY(expect_shape(kKeypointsOpenposeName, heat,
                         {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
    const int64_t rows = heat.shape()[2];
    const int64_t columns = heat.shape()[3];
    HET_TRY(expect_shape(kKeypointsOpenposeName, fields,
                         {heat.shape()[0], static_cast<int64_t>(kPoseFields), rows, columns}));
    if (heat.shape()[1] < static_cast<int64_t>(kPosePoints) || rows > kMaxMapSide ||
        columns > kMaxMapSide || rows < 1 || columns < 1)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads heat maps of {} points of 1 to {} rows and columns, they "
                   "came as {}",
                   kKeypointsOpenposeName, kPosePoints, kMaxMapSide, to_string(heat.desc()));
    HET_ASSIGN(const OutputValues heat_values, OutputValues::batch_item(heat, context.batch_index));
    HET_ASSIGN(const OutputValues field_values,
               OutputValues::batch_item(fields, context.batch_index));
    const PoseMaps maps{heat_values.values(), field_values.values(), static_cast<int>(rows),
                        static_cast<int>(columns)};
    const float cell_width = static_cast<float>(context.input_width) / static_cast<float>(columns);
    const float cell_height = static_cast<float>(context.input_height) / static_cast<float>(rows);
    Results results;
    for (const Pose& pose : group_poses(
             maps, effective_threshold(context, config_.threshold, kKeypointsOpenposeThreshold))) {
      Keypoints found = empty_keypoints(scheme_, layer_, kPosePoints);
      float sum = 0.0f;
      int count = 0;
      for (size_t p = 0; p < kPosePoints; ++p) {
        if (!pose.found[p]) continue;
        const PosePeak& peak = pose.points[p];
        set_point(found, p,
                  to_source((peak.x + 0.5f) * cell_width, (peak.y + 0.5f) * cell_height,
                            context.transform),
                  peak.score);
        sum += found.landmarks.confidences[p];
        ++count;
      }
      found.confidence = sum / static_cast<float>(std::max(count, 1));
      results.keypoints.push_back(std::move(found));
    }
    return results;
  }

 private:
  DecoderConfig config_;
  PointScheme scheme_;
  size_t heat_maps_;
  size_t fields_;
  std::string layer_;
};

Result<std::unique_ptr<Decoder>> create_keypoints_openpose(const DecoderConfig& config,
                                                           const std::vector<Port>&,
                                                           const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::vector<size_t> heat_maps;
  std::vector<size_t> fields;
  for (size_t index : selected) {
    const Shape& shape = outputs[index].desc.shape;
    if (shape.size() != 4) continue;
    if (shape[1] == static_cast<int64_t>(kPoseFields)) fields.push_back(index);
    if (shape[1] == static_cast<int64_t>(kPosePoints) ||
        shape[1] == static_cast<int64_t>(kPosePoints) + 1)
      heat_maps.push_back(index);
  }
  if (heat_maps.size() != 1 || fields.size() != 1)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads one output [batch,18 or 19,rows,columns] and one "
                 "[batch,38,rows,columns], the model has {}; name the two with layer_names",
                 kKeypointsOpenposeName, describe(outputs, selected));
  HET_ASSIGN(PointScheme scheme,
             point_scheme(config, static_cast<int64_t>(kPosePoints), openpose_body()));
  return std::make_unique<OpenPoseDecoder>(config, std::move(scheme), heat_maps.front(),
                                           fields.front(), outputs[heat_maps.front()].name);
}

}  // namespace

HET_REGISTRATION void register_keypoints_openpose_decoder(DecoderRegistry& registry) {
  registry.add({kKeypointsOpenposeName,
                {"format", "threshold", "point_names", "point_connections"},
                create_keypoints_openpose});
}

}  // namespace het
