#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"

namespace het {
namespace {

constexpr std::string_view kMoveNetName = "movenet";
constexpr int64_t kMoveNetPoints = 17;
constexpr int64_t kMoveNetRow = 3 * kMoveNetPoints + 5;
constexpr int64_t kMoveNetMostBodies = 32;
constexpr float kMoveNetPointThreshold = 0.11f;
constexpr float kMoveNetBodyThreshold = 0.25f;

/// MoveNet (TensorFlow Hub, google/movenet): y, x and score of the 17 points of COCO, shares of the
/// model's picture. Of one body, [batch, 1, 17, 3]: keypoints; points below the threshold (0.11, as
/// TensorFlow's tutorial draws them) were not found. Of several, [batch, 6, 56]: behind the points
/// ymin, xmin, ymax, xmax and score of the box, a detection with landmarks from the threshold on
/// (0.25, tfjs-models' minPoseScore).
class MoveNetDecoder final : public Decoder {
 public:
  MoveNetDecoder(DecoderConfig config, PointScheme scheme, size_t output, std::string layer)
      : config_(std::move(config)),
        scheme_(std::move(scheme)),
        output_(output),
        layer_(std::move(layer)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    const bool several = tensor.rank() == 3;
    HET_TRY(several ? expect_shape(kMoveNetName, tensor, {kUnknownDim, kUnknownDim, kMoveNetRow})
                    : expect_shape(kMoveNetName, tensor, {kUnknownDim, 1, kMoveNetPoints, 3}));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    return several ? bodies(values.values(), context) : body(values.data(), context);
  }

 private:
  Results body(const float* values, const DecodeContext& context) const {
    Results results;
    Keypoints found = empty_keypoints(scheme_, layer_, kMoveNetPoints);
    const float threshold = effective_threshold(context, config_.threshold, kMoveNetPointThreshold);
    float sum = 0.0f;
    int count = 0;
    for (size_t p = 0; p < kMoveNetPoints; ++p) {
      const float* point = values + 3 * p;
      if (!(point[2] >= threshold)) continue;
      set_point(found, p, place(point[1], point[0], context), point[2]);
      if (found.landmarks.confidences[p] <= 0.0f) continue;
      sum += found.landmarks.confidences[p];
      ++count;
    }
    if (count == 0) return results;
    found.confidence = sum / static_cast<float>(count);
    results.keypoints.push_back(std::move(found));
    return results;
  }

  Results bodies(std::span<const float> values, const DecodeContext& context) const {
    const float threshold = effective_threshold(context, config_.threshold, kMoveNetBodyThreshold);
    const auto width = static_cast<float>(context.input_width);
    const auto height = static_cast<float>(context.input_height);
    std::vector<Candidate> candidates;
    for (size_t row = 0; (row + 1) * kMoveNetRow <= values.size(); ++row) {
      const float* box = values.data() + row * kMoveNetRow + 3 * kMoveNetPoints;
      if (!(box[4] >= threshold)) continue;
      candidates.push_back({box[1] * width, box[0] * height, box[3] * width, box[2] * height,
                            box[4], 0, static_cast<int64_t>(row)});
    }
    candidates = sorted_by_score(std::move(candidates));
    Results results = to_results(candidates, config_.labels, context.transform);
    for (size_t i = 0; i < candidates.size(); ++i) {
      const float* points = values.data() + candidates[i].row * kMoveNetRow;
      Keypoints found = empty_keypoints(scheme_, layer_, kMoveNetPoints);
      for (size_t p = 0; p < kMoveNetPoints; ++p)
        set_point(found, p, place(points[3 * p + 1], points[3 * p], context), points[3 * p + 2]);
      results.detections[i].landmarks = std::move(found.landmarks);
    }
    return results;
  }

  static Point place(float x, float y, const DecodeContext& context) {
    return to_source(x * static_cast<float>(context.input_width),
                     y * static_cast<float>(context.input_height), context.transform);
  }

  DecoderConfig config_;
  PointScheme scheme_;
  size_t output_;
  std::string layer_;
};

Result<std::unique_ptr<Decoder>> create_movenet(const DecoderConfig& config,
                                                const std::vector<Port>&,
                                                const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  const Port& port = outputs[output];
  const bool fits = matches(port.desc.shape, {kUnknownDim, 1, kMoveNetPoints, 3}) ||
                    (matches(port.desc.shape, {kUnknownDim, kUnknownDim, kMoveNetRow}) &&
                     dimension(port, 1) <= kMoveNetMostBodies);
  if (!fits && !is_sized_at_run_time(port))
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads [batch,1,17,3] or [batch,bodies,56], '{}' is {}",
                 kMoveNetName, port.name, to_string(port.desc));
  HET_ASSIGN(PointScheme scheme, point_scheme(config, kMoveNetPoints, coco_body()));
  return std::make_unique<MoveNetDecoder>(config, std::move(scheme), output, port.name);
}

}  // namespace

HET_REGISTRATION void register_movenet_decoder(DecoderRegistry& registry) {
  registry.add({kMoveNetName,
                {"labels", "format", "threshold", "point_names", "point_connections"},
                create_movenet});
}

}  // namespace het
