#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/boxes/pointed_objects.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"

namespace het {
namespace {

constexpr float kBlazeThreshold = 0.5f;
constexpr float kBlazeIouThreshold = 0.3f;
constexpr float kMostBlazeLogit = 100.0f;
constexpr int64_t kBlazeBoxValues = 4;

/// A grid of anchors: layers of one stride share it.
struct BlazeLevel {
  int stride = 0;
  int64_t anchors = 0;  ///< of each cell
};

struct BlazeOutputs {
  size_t values = 0;
  size_t scores = 0;
  RowShape shape;  ///< of the values
};

PointScheme blaze_points(int64_t points) {
  if (points == 7)
    return {"",
            {"wrist", "index_mcp", "middle_mcp", "ring_mcp", "pinky_mcp", "thumb_cmc", "thumb_mcp"},
            {}};
  return {"", {"right_eye", "left_eye", "nose_tip", "mouth", "right_ear", "left_ear"}, {}};
}

/// BlazeFace (Bazarevsky et al., arXiv 1907.05047) and the palms of the same makers, as MediaPipe's
/// graphs face_detection and palm_detection read them: [batch, N, 4 + 2P] centre, size and points
/// as offsets in pixels of the input from the centre of the anchor's cell, and [batch, N, 1]
/// logits, clipped to +-100. Anchors are MediaPipe's SsdAnchorsCalculator's with a fixed size: two
/// for each layer and cell, layers of one stride in one grid. Suppression is weighted: of the boxes
/// that overlap the best one, box and points are averaged by their scores, sum(score_i * v_i) /
/// sum(score_i); the score stays the best one's.
class BlazeFaceDecoder final : public Decoder {
 public:
  BlazeFaceDecoder(DecoderConfig config, BlazeOutputs outputs, std::vector<BlazeLevel> levels,
                   PointScheme scheme)
      : config_(std::move(config)),
        outputs_(outputs),
        levels_(std::move(levels)),
        scheme_(std::move(scheme)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_ASSIGN(const OutputValues values,
               read_rows(config_.converter, outputs[outputs_.values], outputs_.shape, context));
    HET_ASSIGN(const OutputValues scores, read_rows(config_.converter, outputs[outputs_.scores],
                                                    {outputs_.shape.rows, 1}, context));
    const float threshold = effective_threshold(context, config_.threshold, kBlazeThreshold);
    PointedObjects found(static_cast<size_t>((outputs_.shape.columns - kBlazeBoxValues) / 2));
    int64_t row = 0;
    for (const BlazeLevel& level : levels_) {
      const Grid grid = make_grid(level.stride, context.input_width, context.input_height);
      const auto stride = static_cast<float>(level.stride);
      for (int64_t i = 0; i < grid.cells() * level.anchors && row < outputs_.shape.rows;
           ++i, ++row) {
        const float logit = scores[static_cast<size_t>(row)];
        const float score = sigmoid(std::clamp(logit, -kMostBlazeLogit, kMostBlazeLogit));
        if (!(score >= threshold)) continue;
        const int64_t cell = i / level.anchors;
        const float x = (static_cast<float>(cell % grid.width) + 0.5f) * stride;
        const float y = (static_cast<float>(cell / grid.width) + 0.5f) * stride;
        const float* value = values.data() + row * outputs_.shape.columns;
        const std::span<float> points =
            found.add(centred_candidate(x + value[0], y + value[1], value[2], value[3], score, 0));
        for (size_t p = 0; p < points.size(); ++p)
          points[p] = (p % 2 == 0 ? x : y) + value[static_cast<size_t>(kBlazeBoxValues) + p];
      }
    }
    const std::vector<Candidate> kept =
        average(found, config_.iou_threshold.value_or(kBlazeIouThreshold));
    return found.results(kept, scheme_, config_.labels, context.transform);
  }

 private:
  static std::vector<Candidate> average(PointedObjects& found, float iou_threshold) {
    std::vector<Candidate> left = sorted_by_score(found.candidates());
    std::vector<Candidate> kept;
    std::vector<Candidate> cluster;
    while (!left.empty()) {
      const Candidate best = left.front();
      cluster.assign(1, best);
      const auto joins = [&](const Candidate& candidate) {
        return candidate.row == best.row ||
               intersection_over_union(best, candidate) > iou_threshold;
      };
      std::copy_if(left.begin() + 1, left.end(), std::back_inserter(cluster), joins);
      std::erase_if(left, joins);
      kept.push_back(averaged(cluster, found));
    }
    return kept;
  }

  static Candidate averaged(const std::vector<Candidate>& cluster, PointedObjects& found) {
    Candidate result = cluster.front();
    if (cluster.size() == 1) return result;
    float weights = 0.0f;
    for (const Candidate& member : cluster) weights += member.score;
    if (!(weights > 0.0f)) return result;
    result.x_min = result.y_min = result.x_max = result.y_max = 0.0f;
    const std::span<float> points = found.points(result.row);
    std::vector<float> sums(points.size(), 0.0f);
    for (const Candidate& member : cluster) {
      const float weight = member.score / weights;
      result.x_min += weight * member.x_min;
      result.y_min += weight * member.y_min;
      result.x_max += weight * member.x_max;
      result.y_max += weight * member.y_max;
      const std::span<const float> of_member = found.points(member.row);
      for (size_t p = 0; p < sums.size(); ++p) sums[p] += weight * of_member[p];
    }
    std::ranges::copy(sums, points.begin());
    return result;
  }

  DecoderConfig config_;
  BlazeOutputs outputs_;
  std::vector<BlazeLevel> levels_;
  PointScheme scheme_;
};

/// Equal strides that follow each other, in one grid.
std::vector<BlazeLevel> blaze_levels(const std::vector<int>& strides, int64_t anchors) {
  std::vector<BlazeLevel> levels;
  for (const int stride : strides) {
    if (levels.empty() || levels.back().stride != stride) levels.push_back({stride, 0});
    levels.back().anchors += anchors;
  }
  return levels;
}

/// The layers whose anchors are as many as the rows: those that `strides` names, else those of
/// MediaPipe's graphs.
Result<std::vector<BlazeLevel>> find_blaze_levels(const DecoderConfig& config,
                                                  const std::vector<Port>& inputs, int64_t rows) {
  const InputSize size = picture_input_size(inputs);
  std::vector<std::vector<int>> strides{
      {8, 16, 16, 16}, {16, 32, 32, 32}, {8, 16, 32, 32, 32}, {4}};
  if (!config.strides.empty()) strides = {config.strides};
  for (const std::vector<int>& layers : strides) {
    for (const int64_t anchors : {2, 1}) {
      const std::vector<BlazeLevel> levels = blaze_levels(layers, anchors);
      int64_t all = 0;
      for (const BlazeLevel& level : levels)
        all += make_grid(level.stride, size.width, size.height).cells() * level.anchors;
      if (size.width > 0 && size.height > 0 && all == rows) return levels;
    }
  }
  return error(StatusCode::ShapeMismatch,
               "converter '{}' cannot tell the anchors of {} rows for an input of {}x{} pixels; "
               "give the stride of each layer with \"strides\"",
               config.converter, rows, size.width, size.height);
}

Result<BlazeOutputs> find_blaze_outputs(const DecoderConfig& config,
                                        const std::vector<Port>& inputs,
                                        const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  for (size_t i = 0; selected.size() == 2 && i < 2; ++i) {
    const BlazeOutputs found{selected[i], selected[1 - i]};
    const int64_t batch = picture_batch(inputs);
    const auto values = row_shape(outputs[found.values].desc.shape, batch);
    const auto scores = row_shape(outputs[found.scores].desc.shape, batch);
    if (!values || !scores || scores->columns != 1 || scores->rows != values->rows) continue;
    if (values->columns > kBlazeBoxValues && values->columns % 2 == 0)
      return BlazeOutputs{found.values, found.scores, *values};
  }
  return error(StatusCode::ShapeMismatch,
               "converter '{}' reads boxes with points [batch,N,4+2P] and logits [batch,N,1]; the "
               "model has {}",
               config.converter, describe(outputs, selected));
}

Result<std::unique_ptr<Decoder>> create_blazeface(const DecoderConfig& config,
                                                  const std::vector<Port>& inputs,
                                                  const std::vector<Port>& outputs) {
  HET_ASSIGN(const BlazeOutputs found, find_blaze_outputs(config, inputs, outputs));
  HET_ASSIGN(std::vector<BlazeLevel> levels, find_blaze_levels(config, inputs, found.shape.rows));
  HET_TRY(expect_labels(config, 1));
  const int64_t points = (found.shape.columns - kBlazeBoxValues) / 2;
  HET_ASSIGN(PointScheme scheme, point_scheme(config, points, blaze_points(points)));
  return std::make_unique<BlazeFaceDecoder>(config, found, std::move(levels), std::move(scheme));
}

}  // namespace

HET_REGISTRATION void register_blazeface_decoder(DecoderRegistry& registry) {
  registry.add(
      {"blazeface",
       {"labels", "threshold", "iou_threshold", "strides", "point_names", "point_connections"},
       create_blazeface});
}

}  // namespace het
