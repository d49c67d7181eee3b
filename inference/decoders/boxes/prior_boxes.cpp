#include <algorithm>
#include <cmath>
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

constexpr float kPriorThreshold = 0.5f;
constexpr float kPriorIouThreshold = 0.4f;
constexpr int64_t kPriorSides = 4;
/// LPD_YuNet's corners among its five points; the one between them means nothing.
constexpr size_t kLpdCorners[] = {0, 1, 3, 4};
constexpr int64_t kLpdPoints = 5;

/// Square priors of these sides around the centre of each cell.
struct PriorLevel {
  int stride = 0;
  int64_t columns = 0;
  int64_t rows = 0;
  std::vector<float> sizes;

  int64_t count() const { return columns * rows * static_cast<int64_t>(sizes.size()); }
};

struct PriorOutputs {
  size_t boxes = 0;
  size_t scores = 0;
  std::optional<size_t> points;
  std::optional<size_t> quality;
  RowShape box_shape;
  int64_t classes = 0;  ///< with the background
  int64_t points_each = 0;
};

/// Rows for square prior boxes, as the SSD of RetinaFace (Deng et al., arXiv 1905.00641) in its
/// PyTorch version has them: centre = prior centre + v0 * offset * prior size, size = prior size *
/// exp(v1 * offset), point = prior centre + v0 * offset * prior size; variances v0, v1. Priors go
/// by stride, row, column and min_size. Outputs [batch, N, ..], or [N, ..] for one picture: boxes
/// (4 columns), scores (background first) and perhaps points (2P columns). YuNet's older form has
/// the points behind the boxes (14 columns) and a quality in 1 column: score = sqrt(class score *
/// quality). With four point_names these are LPD_YuNet's corners, and the box is that around them.
class PriorBoxesDecoder final : public Decoder {
 public:
  PriorBoxesDecoder(DecoderConfig config, PriorOutputs outputs, std::vector<PriorLevel> levels,
                    PointScheme scheme)
      : config_(std::move(config)),
        outputs_(outputs),
        levels_(std::move(levels)),
        scheme_(std::move(scheme)),
        has_corners_(is_lpd(config_, outputs_)) {}

  static bool is_lpd(const DecoderConfig& config, const PriorOutputs& outputs) {
    return outputs.points_each == kLpdPoints && config.point_names.size() == std::size(kLpdCorners);
  }

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const int64_t rows = outputs_.box_shape.rows;
    const auto read = [&](size_t output, int64_t columns) {
      return read_rows(config_.converter, outputs[output], {rows, columns}, context);
    };
    Rows values;
    HET_ASSIGN(values.boxes, read(outputs_.boxes, outputs_.box_shape.columns));
    HET_ASSIGN(values.scores, read(outputs_.scores, outputs_.classes));
    if (outputs_.points) {
      HET_ASSIGN(values.points, read(*outputs_.points, 2 * outputs_.points_each));
    }
    if (outputs_.quality) {
      HET_ASSIGN(values.quality, read(*outputs_.quality, 1));
    }
    const float threshold = effective_threshold(context, config_.threshold, kPriorThreshold);
    PointedObjects found(has_corners_ ? std::size(kLpdCorners)
                                      : static_cast<size_t>(outputs_.points_each));
    std::vector<float> scores(static_cast<size_t>(outputs_.classes));
    int64_t row = 0;
    for (const PriorLevel& level : levels_) {
      for (int64_t i = 0; i < level.count(); ++i, ++row) {
        const BestClass best = score_of(values, row, scores);
        if (!(best.score >= threshold)) continue;
        const auto sizes = static_cast<int64_t>(level.sizes.size());
        const int64_t cell = i / sizes;
        const auto stride = static_cast<float>(level.stride);
        add(values, row,
            {(static_cast<float>(cell % level.columns) + 0.5f) * stride,
             (static_cast<float>(cell / level.columns) + 0.5f) * stride,
             level.sizes[static_cast<size_t>(i % sizes)]},
            best, found);
      }
    }
    const std::vector<Candidate> kept = non_maximum_suppression(
        found.candidates(), config_.iou_threshold.value_or(kPriorIouThreshold));
    return found.results(kept, scheme_, config_.labels, context.transform);
  }

 private:
  struct Rows {
    OutputValues boxes, scores, points, quality;
  };
  struct Prior {
    float x, y, size;
  };

  /// The best class behind the background.
  BestClass score_of(const Rows& values, int64_t row, std::vector<float>& scores) const {
    const float* given = values.scores.data() + row * outputs_.classes;
    if (config_.class_softmax) {
      std::copy_n(given, scores.size(), scores.begin());
      softmax(scores);
      given = scores.data();
    }
    BestClass best = best_class(given + 1, scores.size() - 1);
    if (outputs_.quality)
      best.score =
          std::sqrt(best.score * std::clamp(values.quality[static_cast<size_t>(row)], 0.0f, 1.0f));
    return best;
  }

  void add(const Rows& values, int64_t row, const Prior& prior, const BestClass& best,
           PointedObjects& found) const {
    const float shift = variance(0) * prior.size;
    const float* box = values.boxes.data() + row * outputs_.box_shape.columns;
    Candidate candidate =
        centred_candidate(prior.x + box[0] * shift, prior.y + box[1] * shift,
                          prior.size * std::exp(box[2] * variance(1)),
                          prior.size * std::exp(box[3] * variance(1)), best.score, best.id);
    const float* offsets =
        outputs_.points ? values.points.data() + row * 2 * outputs_.points_each : box + kPriorSides;
    const auto place = [&](size_t point) -> Point {
      return {prior.x + offsets[2 * point] * shift, prior.y + offsets[2 * point + 1] * shift};
    };
    if (has_corners_) {
      candidate.x_min = candidate.x_max = place(0).x;
      candidate.y_min = candidate.y_max = place(0).y;
      for (const size_t corner : kLpdCorners) {
        const Point point = place(corner);
        if (!std::isfinite(point.x) || !std::isfinite(point.y)) return;
        candidate.x_min = std::min(candidate.x_min, point.x);
        candidate.y_min = std::min(candidate.y_min, point.y);
        candidate.x_max = std::max(candidate.x_max, point.x);
        candidate.y_max = std::max(candidate.y_max, point.y);
      }
    }
    const std::span<float> points = found.add(candidate);
    for (size_t p = 0; p < points.size() / 2; ++p) {
      const Point point = place(has_corners_ ? kLpdCorners[p] : p);
      points[2 * p] = point.x;
      points[2 * p + 1] = point.y;
    }
  }

  float variance(size_t index) const {
    constexpr float kVariances[] = {0.1f, 0.2f};
    return config_.variances.empty() ? kVariances[index] : config_.variances[index];
  }

  DecoderConfig config_;
  PriorOutputs outputs_;
  std::vector<PriorLevel> levels_;
  PointScheme scheme_;
  bool has_corners_;
};

/// Outputs by their columns; where boxes and points have as many, by name, then by order.
Result<PriorOutputs> find_prior_outputs(const DecoderConfig& config,
                                        const std::vector<Port>& inputs,
                                        const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  PriorOutputs found;
  bool has_boxes = false;
  bool has_scores = false;
  bool fits = selected.size() == 2 || selected.size() == 3;
  const int64_t classes = config.classes.value_or(static_cast<int>(config.labels.size())) + 1;
  const int64_t score_columns = classes > 1 ? classes : 2;
  for (size_t index : selected) {
    const auto shape = row_shape(outputs[index].desc.shape, picture_batch(inputs));
    if (!shape || (has_boxes && shape->rows != found.box_shape.rows)) {
      fits = false;
      break;
    }
    if (shape->columns == 1 && !found.quality) {
      found.quality = index;
    } else if (shape->columns == score_columns && !has_scores) {
      found.scores = index;
      found.classes = shape->columns;
      has_scores = true;
    } else if ((shape->columns == kPriorSides || shape->columns == kPriorSides + 2 * kLpdPoints) &&
               !has_boxes) {
      found.boxes = index;
      found.box_shape = *shape;
      has_boxes = true;
    } else if (shape->columns > kPriorSides && shape->columns % 2 == 0 && !found.points) {
      found.points = index;
      found.points_each = shape->columns / 2;
    } else {
      fits = false;
    }
  }
  // Outputs before the boxes were not compared with them.
  for (size_t index : selected) {
    const auto shape = row_shape(outputs[index].desc.shape, picture_batch(inputs));
    fits = fits && shape && shape->rows == found.box_shape.rows;
  }
  const bool joined = found.box_shape.columns > kPriorSides;
  if (joined) found.points_each = kLpdPoints;
  if (fits && has_boxes && has_scores && joined == found.quality.has_value() &&
      !(joined && found.points))
    return found;
  return error(StatusCode::ShapeMismatch,
               "converter '{}' reads boxes [batch,N,4], scores [batch,N,{}] and perhaps points "
               "[batch,N,2P], or boxes with points [N,14], scores and a quality [N,1]; the model "
               "has {}",
               config.converter, score_columns, describe(outputs, selected));
}

using PriorSizes = std::vector<std::vector<float>>;

/// Grids that are rounded up, as most networks make them, or down by repeated halving.
std::vector<PriorLevel> prior_levels(const std::vector<int>& strides, const PriorSizes& sizes,
                                     const InputSize& input, bool up) {
  std::vector<PriorLevel> levels;
  for (size_t i = 0; i < strides.size(); ++i) {
    const Grid grid = make_grid(strides[i], input.width, input.height);
    const int64_t columns = up ? grid.width : (input.width + 1) / 2 * 2 / strides[i];
    const int64_t rows = up ? grid.height : (input.height + 1) / 2 * 2 / strides[i];
    levels.push_back({strides[i], columns, rows, sizes[i]});
  }
  return levels;
}

Result<std::vector<PriorLevel>> find_prior_levels(const DecoderConfig& config,
                                                  const std::vector<Port>& inputs, int64_t rows) {
  struct Layout {
    std::vector<int> strides;
    PriorSizes sizes;
  };
  const InputSize size = picture_input_size(inputs);
  std::vector<Layout> layouts{
      {{8, 16, 32}, {{16, 32}, {64, 128}, {256, 512}}},                        // RetinaFace
      {{8, 16, 32, 64}, {{10, 16, 24}, {32, 48}, {64, 96}, {128, 192, 256}}},  // slim, RFB, YuNet
  };
  if (!config.min_sizes.empty()) {
    Layout given{config.strides, config.min_sizes};
    if (given.strides.empty()) {
      for (size_t i = 0; i < given.sizes.size(); ++i)
        given.strides.push_back(8 << std::min<size_t>(i, 8));
    }
    if (given.strides.size() != given.sizes.size())
      return error(StatusCode::InvalidArgument,
                   "converter '{}' has {} strides and min_sizes of {}; give a list of sizes for "
                   "each stride",
                   config.converter, given.strides.size(), given.sizes.size());
    layouts = {given};
  }
  for (const Layout& layout : layouts) {
    if (!config.strides.empty() && config.strides != layout.strides) continue;
    for (const bool up : {true, false}) {
      std::vector<PriorLevel> levels = prior_levels(layout.strides, layout.sizes, size, up);
      int64_t count = 0;
      for (const PriorLevel& level : levels) count += level.count();
      if (size.width > 0 && size.height > 0 && count == rows) return levels;
    }
  }
  return error(
      StatusCode::ShapeMismatch,
      "converter '{}' cannot tell the prior boxes of {} rows for an input of {}x{} pixels; "
      "give \"strides\" and \"min_sizes\", a list of sides for each stride",
      config.converter, rows, size.width, size.height);
}

Result<std::unique_ptr<Decoder>> create_prior_boxes(const DecoderConfig& config,
                                                    const std::vector<Port>& inputs,
                                                    const std::vector<Port>& outputs) {
  HET_ASSIGN(const PriorOutputs found, find_prior_outputs(config, inputs, outputs));
  HET_ASSIGN(std::vector<PriorLevel> levels,
             find_prior_levels(config, inputs, found.box_shape.rows));
  HET_TRY(expect_labels(config, found.classes - 1));
  const bool lpd = PriorBoxesDecoder::is_lpd(config, found);
  const int64_t points = lpd ? static_cast<int64_t>(std::size(kLpdCorners)) : found.points_each;
  HET_ASSIGN(PointScheme scheme, point_scheme(config, points, face_points()));
  return std::make_unique<PriorBoxesDecoder>(config, found, std::move(levels), std::move(scheme));
}

}  // namespace

HET_REGISTRATION void register_prior_boxes_decoder(DecoderRegistry& registry) {
  registry.add({"prior_boxes",
                {"labels", "threshold", "iou_threshold", "classes", "strides", "min_sizes",
                 "variances", "do_cls_softmax", "point_names", "point_connections"},
                create_prior_boxes});
}

}  // namespace het
