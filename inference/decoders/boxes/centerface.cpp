#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/heat_maps.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr float kCenterfaceThreshold = 0.5f;
constexpr float kCenterfaceIouThreshold = 0.4f;
constexpr size_t kPoints = 5;

struct FaceOutputs {
  size_t heat = 0;
  size_t size = 0;
  size_t offset = 0;
  size_t points = 0;
};

/// CenterFace (Xu et al., arXiv 1911.03599, and the post-processing its authors publish): heatmap
/// [batch, 1, rows, columns], scale and offset [batch, 2, ..] (y before x), landmarks [batch, 10,
/// ..] (y before x). size = exp(scale) * 4; centre = (cell + offset + 0.5) * 4; point = corner +
/// landmark * size. The step 4 is the input's size divided by the map's.
class CenterFaceDecoder final : public Decoder {
 public:
  CenterFaceDecoder(DecoderConfig config, FaceOutputs outputs)
      : config_(std::move(config)), outputs_(outputs) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& heat_tensor = outputs[outputs_.heat];
    HET_TRY(
        expect_shape(config_.converter, heat_tensor, {kUnknownDim, 1, kUnknownDim, kUnknownDim}));
    const Shape& shape = heat_tensor.shape();
    HET_ASSIGN(const OutputValues heat, OutputValues::batch_item(heat_tensor, context.batch_index));
    HET_ASSIGN(const OutputValues scale,
               read_map(config_, outputs[outputs_.size], 2, shape, context));
    HET_ASSIGN(const OutputValues offset,
               read_map(config_, outputs[outputs_.offset], 2, shape, context));
    HET_ASSIGN(const OutputValues points,
               read_map(config_, outputs[outputs_.points], 2 * kPoints, shape, context));
    const auto columns = static_cast<size_t>(shape[3]);
    const size_t cells = heat.size();
    const float step_x = static_cast<float>(context.input_width) / static_cast<float>(shape[3]);
    const float step_y = static_cast<float>(context.input_height) / static_cast<float>(shape[2]);
    const float threshold = effective_threshold(context, config_.threshold, kCenterfaceThreshold);
    std::vector<Candidate> candidates;
    for (size_t cell = 0; cell < cells; ++cell) {
      if (!(heat[cell] >= threshold)) continue;
      const float height = std::exp(scale[cell]) * step_y;
      const float width = std::exp(scale[cells + cell]) * step_x;
      const float y = (static_cast<float>(cell / columns) + offset[cell] + 0.5f) * step_y;
      const float x = (static_cast<float>(cell % columns) + offset[cells + cell] + 0.5f) * step_x;
      candidates.push_back(
          centred_candidate(x, y, width, height, heat[cell], 0, static_cast<int64_t>(cell)));
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kCenterfaceIouThreshold));
    Results results = to_results(candidates, config_.labels, context.transform);
    for (size_t i = 0; i < candidates.size(); ++i) {
      const Candidate& box = candidates[i];
      const auto cell = static_cast<size_t>(box.row);
      Landmarks& landmarks = results.detections[i].landmarks;
      landmarks.names = config_.point_names;
      for (size_t p = 0; p < kPoints; ++p) {
        const float y = box.y_min + points[2 * p * cells + cell] * (box.y_max - box.y_min);
        const float x = box.x_min + points[(2 * p + 1) * cells + cell] * (box.x_max - box.x_min);
        landmarks.points.push_back(to_source(x, y, context.transform));
      }
    }
    return results;
  }

 private:
  DecoderConfig config_;
  FaceOutputs outputs_;
};

Result<std::unique_ptr<Decoder>> create_centerface(const DecoderConfig& config,
                                                   const std::vector<Port>&,
                                                   const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> maps,
             find_maps(config, outputs,
                       {{"heatmap", 1}, {"scale", 2}, {"offset", 2}, {"landmarks", 2 * kPoints}}));
  HET_TRY(expect_labels(config, 1));
  DecoderConfig complete = config;
  if (complete.point_names.empty())
    complete.point_names = {"right_eye", "left_eye", "nose_tip", "right_mouth", "left_mouth"};
  if (complete.point_names.size() != kPoints)
    return error(StatusCode::InvalidArgument, "converter '{}' finds {} points, point_names has {}",
                 config.converter, kPoints, complete.point_names.size());
  return std::make_unique<CenterFaceDecoder>(std::move(complete),
                                             FaceOutputs{maps[0], maps[1], maps[2], maps[3]});
}

}  // namespace

HET_REGISTRATION void register_centerface_decoder(DecoderRegistry& registry) {
  registry.add(
      {"centerface", {"labels", "threshold", "iou_threshold", "point_names"}, create_centerface});
}

}  // namespace het
