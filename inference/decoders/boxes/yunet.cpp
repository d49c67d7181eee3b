#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kYunetName = "yunet";
constexpr float kYunetThreshold = 0.6f;
constexpr float kYunetIouThreshold = 0.3f;
constexpr int64_t kBoxColumns = 4;
constexpr int64_t kPointColumns = 10;
constexpr size_t kYunetPoints = 5;

struct YunetLevel {
  int stride = 0;
  size_t scores[2] = {0, 0};  // class and objectness; the formula is symmetric
  size_t boxes = 0;
  size_t points = 0;
};

/// YuNet (libfacedetection.train, OpenCV's FaceDetectorYN): per stride cls, obj [batch, cells, 1],
/// bbox [.., 4] and kps [.., 10]. score = sqrt(cls * obj), both clamped to 0..1; centre = (cell +
/// bbox_xy) * stride, size = exp(bbox_wh) * stride, point = (cell + kps) * stride.
class YuNetDecoder final : public Decoder {
 public:
  YuNetDecoder(DecoderConfig config, std::vector<YunetLevel> levels)
      : config_(std::move(config)), levels_(std::move(levels)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const float threshold = effective_threshold(context, config_.threshold, kYunetThreshold);
    std::vector<Candidate> candidates;
    std::vector<std::vector<Point>> points;  // by Candidate::row
    for (const YunetLevel& level : levels_)
      HET_TRY(add_level(level, outputs, context, threshold, candidates, points));
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kYunetIouThreshold));
    Results results = to_results(candidates, config_.labels, context.transform);
    for (size_t i = 0; i < candidates.size(); ++i) {
      Landmarks& landmarks = results.detections[i].landmarks;
      landmarks.names = config_.point_names;
      for (const Point& point : points[static_cast<size_t>(candidates[i].row)])
        landmarks.points.push_back(to_source(point.x, point.y, context.transform));
    }
    return results;
  }

 private:
  static Status add_level(const YunetLevel& level, std::span<const Tensor> outputs,
                          const DecodeContext& context, float threshold,
                          std::vector<Candidate>& candidates,
                          std::vector<std::vector<Point>>& points) {
    const Grid grid = make_grid(level.stride, context.input_width, context.input_height);
    for (size_t output : level.scores)
      HET_TRY(expect_shape(kYunetName, outputs[output], {kUnknownDim, grid.cells(), 1}));
    HET_TRY(
        expect_shape(kYunetName, outputs[level.boxes], {kUnknownDim, grid.cells(), kBoxColumns}));
    HET_TRY(expect_shape(kYunetName, outputs[level.points],
                         {kUnknownDim, grid.cells(), kPointColumns}));
    HET_ASSIGN(const OutputValues first,
               OutputValues::batch_item(outputs[level.scores[0]], context.batch_index));
    HET_ASSIGN(const OutputValues second,
               OutputValues::batch_item(outputs[level.scores[1]], context.batch_index));
    HET_ASSIGN(const OutputValues boxes,
               OutputValues::batch_item(outputs[level.boxes], context.batch_index));
    HET_ASSIGN(const OutputValues landmarks,
               OutputValues::batch_item(outputs[level.points], context.batch_index));
    const auto stride = static_cast<float>(level.stride);
    for (int64_t cell = 0; cell < grid.cells(); ++cell) {
      const auto i = static_cast<size_t>(cell);
      const float score =
          std::sqrt(std::clamp(first[i], 0.0f, 1.0f) * std::clamp(second[i], 0.0f, 1.0f));
      if (!(score >= threshold)) continue;
      const auto x = static_cast<float>(cell % grid.width);
      const auto y = static_cast<float>(cell / grid.width);
      const float* box = boxes.data() + cell * kBoxColumns;
      const float centre_x = (x + box[0]) * stride;
      const float centre_y = (y + box[1]) * stride;
      const float half_width = std::exp(box[2]) * stride / 2.0f;
      const float half_height = std::exp(box[3]) * stride / 2.0f;
      candidates.push_back({centre_x - half_width, centre_y - half_height, centre_x + half_width,
                            centre_y + half_height, score, 0, static_cast<int64_t>(points.size())});
      std::vector<Point>& face = points.emplace_back(kYunetPoints);
      const float* values = landmarks.data() + cell * kPointColumns;
      for (size_t p = 0; p < kYunetPoints; ++p)
        face[p] = {(x + values[2 * p]) * stride, (y + values[2 * p + 1]) * stride};
    }
    return {};
  }

  DecoderConfig config_;
  std::vector<YunetLevel> levels_;
};

Result<YunetLevel> make_level(const GridOutputs& group, const std::vector<Port>& outputs) {
  YunetLevel level;
  level.stride = group.stride;
  size_t scores = 0;
  size_t boxes = 0;
  size_t points = 0;
  for (size_t index : group.outputs) {
    const int64_t columns = outputs[index].desc.shape[2];
    if (columns == 1 && scores < 2) {
      level.scores[scores++] = index;
    } else if (columns == kBoxColumns) {
      level.boxes = index;
      ++boxes;
    } else if (columns == kPointColumns) {
      level.points = index;
      ++points;
    }
  }
  if (scores == 2 && boxes == 1 && points == 1) return level;
  return error(StatusCode::ShapeMismatch,
               "converter '{}' reads per stride two outputs of 1 column, one of 4 and one of 10; "
               "for stride {} the model has {}",
               kYunetName, group.stride, describe(outputs, group.outputs));
}

Result<std::unique_ptr<Decoder>> create_yunet(const DecoderConfig& config,
                                              const std::vector<Port>& inputs,
                                              const std::vector<Port>& outputs) {
  std::vector<int> strides = config.strides;
  if (strides.empty()) strides = {8, 16, 32};
  HET_ASSIGN(const std::vector<GridOutputs> groups,
             group_by_stride(config, strides, 4, inputs, outputs));
  std::vector<YunetLevel> levels;
  for (const GridOutputs& group : groups) {
    HET_ASSIGN(const YunetLevel level, make_level(group, outputs));
    levels.push_back(level);
  }
  HET_TRY(expect_labels(config, 1));
  DecoderConfig complete = config;
  if (complete.point_names.empty())
    complete.point_names = {"right_eye", "left_eye", "nose_tip", "right_mouth", "left_mouth"};
  if (complete.point_names.size() != kYunetPoints)
    return error(StatusCode::InvalidArgument, "converter '{}' finds {} points, point_names has {}",
                 kYunetName, kYunetPoints, complete.point_names.size());
  return std::make_unique<YuNetDecoder>(std::move(complete), std::move(levels));
}

}  // namespace

HET_REGISTRATION void register_yunet_decoder(DecoderRegistry& registry) {
  registry.add({kYunetName,
                {"labels", "threshold", "iou_threshold", "strides", "point_names"},
                create_yunet});
}

}  // namespace het
