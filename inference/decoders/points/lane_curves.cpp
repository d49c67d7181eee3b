#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/polyline.h"

namespace het {
namespace {

constexpr std::string_view kLaneCurvesName = "lane_curves";
constexpr float kLaneCurvesThreshold = 0.5f;
constexpr size_t kCurveValues = 8;
constexpr size_t kCurvePoints = 32;

/// Lanes as curves (Liu et al., End-to-end Lane Shape Prediction with Transformers, 2021): logits
/// [batch, N, 2 or 3] of classes, the first of them "no lane", and curves [batch, N, 8]: lower and
/// upper end, k, f, m, n, b', b'' of x = k / (y - f)^2 + m / (y - f) + n + b' y - b'', all in 0..1
/// of the picture, which k, f, m, n share between lanes. The confidence is the softmax of the best
/// class.
class LaneCurvesDecoder final : public Decoder {
 public:
  LaneCurvesDecoder(DecoderConfig config, size_t logits, size_t curves, std::string layer)
      : config_(std::move(config)), logits_(logits), curves_(curves), layer_(std::move(layer)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_TRY(expect_shape(kLaneCurvesName, outputs[curves_],
                         {kUnknownDim, kUnknownDim, static_cast<int64_t>(kCurveValues)}));
    const int64_t count = outputs[curves_].shape()[1];
    HET_TRY(expect_shape(kLaneCurvesName, outputs[logits_], {kUnknownDim, count, kUnknownDim}));
    const auto classes = static_cast<size_t>(outputs[logits_].shape()[2]);
    HET_ASSIGN(const OutputValues logits,
               OutputValues::batch_item(outputs[logits_], context.batch_index));
    HET_ASSIGN(const OutputValues curves,
               OutputValues::batch_item(outputs[curves_], context.batch_index));
    const float threshold = effective_threshold(context, config_.threshold, kLaneCurvesThreshold);
    Results results;
    for (size_t n = 0; n < static_cast<size_t>(count); ++n) {
      const float confidence = lane_probability(logits.values().subspan(n * classes, classes));
      if (!(confidence >= threshold)) continue;
      std::vector<Point> points = points_of(curves.data() + n * kCurveValues, context);
      if (points.size() < 2) continue;
      results.keypoints.push_back(polyline("lane", layer_, std::move(points), confidence));
    }
    return results;
  }

 private:
  /// 0 where "no lane" wins or nothing is a number.
  static float lane_probability(std::span<const float> logits) {
    const float* best = std::max_element(logits.data(), logits.data() + logits.size());
    if (logits.size() < 2 || best == logits.data()) return 0.0f;
    float sum = 0.0f;
    for (const float logit : logits) sum += std::exp(logit - *best);
    return 1.0f / sum;
  }

  static std::vector<Point> points_of(const float* c, const DecodeContext& context) {
    std::vector<Point> points;
    const float lower = c[0];
    const float upper = c[1];
    for (size_t i = 0; i < kCurvePoints; ++i) {
      const float part = static_cast<float>(i) / static_cast<float>(kCurvePoints - 1);
      const float y = lower + (upper - lower) * part;
      const float d = y - c[3];
      const float x = c[2] / (d * d) + c[4] / d + c[5] + c[6] * y - c[7];
      if (!(x >= 0.0f && x <= 1.0f && y >= 0.0f && y <= 1.0f)) continue;
      points.push_back(to_source(x * static_cast<float>(context.input_width),
                                 y * static_cast<float>(context.input_height), context.transform));
    }
    return points;
  }

  DecoderConfig config_;
  size_t logits_;
  size_t curves_;
  std::string layer_;
};

Result<std::unique_ptr<Decoder>> create_lane_curves(const DecoderConfig& config,
                                                    const std::vector<Port>&,
                                                    const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::optional<size_t> logits;
  std::optional<size_t> curves;
  for (const size_t index : selected) {
    const Shape& shape = outputs[index].desc.shape;
    if (matches(shape, {kUnknownDim, kUnknownDim, static_cast<int64_t>(kCurveValues)})) {
      curves = index;
    } else if (matches(shape, {kUnknownDim, kUnknownDim, 2}) ||
               matches(shape, {kUnknownDim, kUnknownDim, 3})) {
      logits = index;
    }
  }
  if (!logits || !curves || dimension(outputs[*logits], 1) != dimension(outputs[*curves], 1))
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads logits [batch,N,2 or 3] and curves [batch,N,8], the model "
                 "has {}",
                 kLaneCurvesName, describe(outputs, selected));
  return std::make_unique<LaneCurvesDecoder>(config, *logits, *curves, outputs[*curves].name);
}

}  // namespace

HET_REGISTRATION void register_lane_curves_decoder(DecoderRegistry& registry) {
  registry.add({kLaneCurvesName, {"threshold"}, create_lane_curves});
}

}  // namespace het
