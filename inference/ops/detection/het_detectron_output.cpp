#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/detection/het_box_overlap.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

enum : size_t { kRois, kBoxDeltas, kBoxScores, kImage };

Status infer_detectron_output(InferContext& context) {
  const Attributes& attributes = context.attributes();
  HET_TRY(check_attributes(attributes, {{"score_threshold", AttributeType::Float},
                                        {"nms_threshold", AttributeType::Float},
                                        {"max_delta_log_wh", AttributeType::Float},
                                        {"num_classes", AttributeType::Int},
                                        {"post_nms_count", AttributeType::Int},
                                        {"max_detections_per_image", AttributeType::Int},
                                        {"class_agnostic_box_regression", AttributeType::Int},
                                        {"deltas_weights", AttributeType::Floats}}));
  for (const size_t i : {kRois, kBoxDeltas, kBoxScores, kImage}) {
    HET_TRY(check_input(context, i, "input", kFloat32Only));
  }
  const int64_t classes = attributes.get_int("num_classes", 0);
  const int64_t rows = attributes.get_int("max_detections_per_image", 0);
  if (classes < 1 || classes > 1 << 20 || rows < 0 ||
      attributes.get_floats("deltas_weights").size() != 4) {
    return error(StatusCode::InvalidArgument,
                 "num_classes is {}, max_detections_per_image {} and deltas_weights has {} values, "
                 "but must be positive, not negative and four",
                 classes, rows, attributes.get_floats("deltas_weights").size());
  }
  const Shape& rois = context.shape(kRois);
  const Shape& image = context.shape(kImage);
  const bool fits = rois.size() == 2 && rois[1] == 4 &&
                    context.shape(kBoxDeltas) == Shape{rois[0], 4 * classes} &&
                    context.shape(kBoxScores) == Shape{rois[0], classes} &&
                    (image == Shape{1, 3} || image == Shape{3});
  if (!fits) {
    return error(StatusCode::ShapeMismatch,
                 "rois have shape {}, deltas {}, scores {} and im_info {}, but must have [n, 4], "
                 "[n, {}], [n, {}] and [1, 3]",
                 to_string(rois), to_string(context.shape(kBoxDeltas)),
                 to_string(context.shape(kBoxScores)), to_string(image), 4 * classes, classes);
  }
  context.set_output(0, ElementType::Float32, {rows, 4});
  context.set_output(1, ElementType::Int32, {rows});
  context.set_output(2, ElementType::Float32, {rows});
  return {};
}

struct Detected {
  BoxSides<float> box;
  int32_t label = 0;
  float score = 0;
  int64_t region = 0;
};

/// A region moved and stretched by the deltas over their weights. Sides are 0 or more; OpenVINO
/// 2026.4.1 does not limit them to the image at its other end, whatever its text says.
BoxSides<float> refined(const float* roi, const float* deltas, const std::vector<float>& weights,
                        float most) {
  constexpr float kBorder = 1;
  const float width = roi[2] - roi[0] + kBorder;
  const float height = roi[3] - roi[1] + kBorder;
  const float center_x = roi[0] + 0.5f * width + deltas[0] / weights[0] * width;
  const float center_y = roi[1] + 0.5f * height + deltas[1] / weights[1] * height;
  const float half_width = 0.5f * std::exp(std::min(deltas[2] / weights[2], most)) * width;
  const float half_height = 0.5f * std::exp(std::min(deltas[3] / weights[3], most)) * height;
  return {std::max(0.0f, center_x - half_width), std::max(0.0f, center_y - half_height),
          std::max(0.0f, center_x + half_width - kBorder),
          std::max(0.0f, center_y + half_height - kBorder)};
}

/// Per class but the first: regions above the threshold, refined, greedily suppressed where they
/// overlap a better one by more than nms_threshold, at most post_nms_count. Regions without an
/// area do not count. Where there are more than rows, the best of all classes by score; else class
/// after class. Rows that are left over are 0. docs.openvino.ai, operation specification
/// ExperimentalDetectronDetectionOutput-6; the order as in OpenVINO 2026.4.1.
Status evaluate_detectron_output(EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  const int64_t classes = attributes.get_int("num_classes", 0);
  const int64_t count = context.input(kRois).shape()[0];
  const float threshold = attributes.get_float("score_threshold", 0);
  const float overlap = attributes.get_float("nms_threshold", 0);
  const float most = attributes.get_float("max_delta_log_wh", 0);
  const auto per_class =
      static_cast<size_t>(std::max<int64_t>(0, attributes.get_int("post_nms_count", 0)));
  const std::vector<float> weights = attributes.get_floats("deltas_weights");
  const float* rois = context.input(kRois).data<float>();
  const float* deltas = context.input(kBoxDeltas).data<float>();
  const float* scores = context.input(kBoxScores).data<float>();
  std::vector<Detected> all;
  for (int64_t c = 1; c < classes; ++c) {
    std::vector<Detected> found;
    for (int64_t i = 0; i < count; ++i) {
      const float score = scores[i * classes + c];
      const float* roi = rois + 4 * i;
      if (!(score > threshold) || !(roi[2] > roi[0]) || !(roi[3] > roi[1])) continue;
      found.push_back({refined(roi, deltas + (i * classes + c) * 4, weights, most),
                       static_cast<int32_t>(c), score, i});
    }
    const auto better = [](const Detected& a, const Detected& b) { return a.score > b.score; };
    std::stable_sort(found.begin(), found.end(), better);
    const size_t begin = all.size();
    for (const Detected& next : found) {
      if (all.size() - begin >= per_class) break;
      const bool suppressed = std::any_of(
          all.begin() + static_cast<ptrdiff_t>(begin), all.end(), [&](const Detected& other) {
            return touching_overlap(next.box, other.box, 1.0f) > overlap;
          });
      if (!suppressed) all.push_back(next);
    }
  }
  const auto rows = static_cast<size_t>(context.output(0).shape()[0]);
  if (all.size() > rows) {
    std::stable_sort(all.begin(), all.end(), [](const Detected& a, const Detected& b) {
      return a.score > b.score || (a.score == b.score && a.region < b.region);
    });
  }
  all.resize(rows);
  for (size_t i = 0; i < rows; ++i) {
    const Detected& d = all[i];
    float* box = context.output(0).data<float>() + 4 * i;
    for (const float side : {d.box.x_min, d.box.y_min, d.box.x_max, d.box.y_max}) *box++ = side;
    if (context.has_output(1)) context.output(1).data<int32_t>()[i] = d.label;
    if (context.has_output(2)) context.output(2).data<float>()[i] = d.score;
  }
  return {};
}

Status infer_prior_grid(InferContext& context) {
  const Attributes& attributes = context.attributes();
  HET_TRY(check_attributes(attributes, {{"flatten", AttributeType::Int},
                                        {"h", AttributeType::Int},
                                        {"w", AttributeType::Int},
                                        {"stride_x", AttributeType::Float},
                                        {"stride_y", AttributeType::Float}}));
  HET_TRY(check_input(context, 0, "priors", kFloat32Only));
  HET_TRY(check_input(context, 1, "feature_map", kNumbers));
  HET_TRY(check_input(context, 2, "im_data", kNumbers));
  HET_TRY(check_rank(context, 1, "feature_map", 4, 4));
  HET_TRY(check_rank(context, 2, "im_data", 4, 4));
  const Shape& priors = context.shape(0);
  if (priors.size() != 2 || priors[1] != 4) {
    return error(StatusCode::ShapeMismatch, "priors have shape {}, but must have [n, 4]",
                 to_string(priors));
  }
  const int64_t h = attributes.get_int("h", 0);
  const int64_t w = attributes.get_int("w", 0);
  const Shape& map = context.shape(1);
  if ((h != 0 && h != map[2]) || (w != 0 && w != map[3])) {
    return error(StatusCode::InvalidArgument,
                 "h is {} and w {}, but they must be 0 or those of feature_map of shape {}", h, w,
                 to_string(map));
  }
  Shape shape{map[2], map[3], priors[0], 4};
  HET_ASSIGN(const int64_t rows, checked_element_count({shape[0], shape[1], shape[2]}));
  HET_TRY(checked_element_count(shape));
  if (attributes.get_int("flatten", 1) != 0) shape = {rows, 4};
  context.set_output(0, ElementType::Float32, std::move(shape));
  return {};
}

/// Every prior box around the middle of every cell of a grid over the picture. Order: rows,
/// columns, priors. docs.openvino.ai, operation specification
/// ExperimentalDetectronPriorGridGenerator-6.
Status evaluate_prior_grid(EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  const Shape& map = context.input(1).shape();
  const Shape& picture = context.input(2).shape();
  const int64_t h = map[2];
  const int64_t w = map[3];
  const float stride_x = attributes.get_float("stride_x", 0);
  const float stride_y = attributes.get_float("stride_y", 0);
  const float step_x =
      stride_x > 0 ? stride_x : static_cast<float>(picture[3]) / static_cast<float>(w);
  const float step_y =
      stride_y > 0 ? stride_y : static_cast<float>(picture[2]) / static_cast<float>(h);
  const std::span<const float> priors = context.input(0).values<float>();
  float* dst = context.output(0).data<float>();
  for (int64_t y = 0; y < h; ++y) {
    for (int64_t x = 0; x < w; ++x) {
      for (size_t i = 0; i < priors.size(); ++i) {
        const float middle = i % 2 == 0 ? step_x * (static_cast<float>(x) + 0.5f)
                                        : step_y * (static_cast<float>(y) + 0.5f);
        *dst++ = priors[i] + middle;
      }
    }
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_het_detectron_output(OpRegistry& registry) {
  registry.add({"ExperimentalDetectronDetectionOutput", "het", 6, 4, 4, infer_detectron_output,
                evaluate_detectron_output});
  registry.add({"ExperimentalDetectronPriorGridGenerator", "het", 6, 3, 3, infer_prior_grid,
                evaluate_prior_grid});
}

}  // namespace het
