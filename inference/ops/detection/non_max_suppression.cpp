#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/detection/kept_boxes.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

enum : size_t { kBoxes, kScores, kMaxBoxes, kIouThreshold, kScoreThreshold };

Status check_scalar(const InferContext& context, size_t index, std::string_view name,
                    TypeSet type) {
  if (!context.has_input(index)) return {};
  HET_TRY(check_input(context, index, name, type));
  if (element_count(context.shape(index)) <= 1) return {};
  return error(StatusCode::ShapeMismatch, "input {} '{}' has shape {}, but must be one value",
               index, name, to_string(context.shape(index)));
}

Status infer_non_max_suppression(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"center_point_box", AttributeType::Int}}));
  const int64_t center = context.attributes().get_int("center_point_box", 0);
  if (center != 0 && center != 1) {
    return error(StatusCode::InvalidArgument, "center_point_box is {}, but must be 0 or 1", center);
  }
  HET_TRY(check_input(context, kBoxes, "boxes", kFloat32Only));
  HET_TRY(check_input(context, kScores, "scores", kFloat32Only));
  const Shape& boxes = context.shape(kBoxes);
  const Shape& scores = context.shape(kScores);
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2]) {
    return error(StatusCode::ShapeMismatch,
                 "boxes have shape {} and scores {}, but must have [n, boxes, 4] and [n, classes, "
                 "boxes]",
                 to_string(boxes), to_string(scores));
  }
  HET_TRY(check_scalar(context, kMaxBoxes, "max_output_boxes_per_class", {ElementType::Int64}));
  HET_TRY(check_scalar(context, kIouThreshold, "iou_threshold", kFloat32Only));
  HET_TRY(check_scalar(context, kScoreThreshold, "score_threshold", kFloat32Only));
  context.set_output(0, ElementType::Int64, {kUnknownDim, 3});
  return {};
}

template <class T>
std::optional<T> optional_scalar(const EvaluateContext& context, size_t index) {
  if (!context.has_input(index) || context.input(index).element_count() == 0) return std::nullopt;
  return context.input(index).data<T>()[0];
}

/// `box` is [y, x, y, x] of two opposite corners, or [x, y, width, height] around the centre.
BoxSides<float> sides_of(const float* box, bool center_point) {
  if (center_point) {
    const float half_width = box[2] / 2;
    const float half_height = box[3] / 2;
    return {box[0] - half_width, box[1] - half_height, box[0] + half_width, box[1] + half_height};
  }
  return {std::min(box[1], box[3]), std::min(box[0], box[2]), std::max(box[1], box[3]),
          std::max(box[0], box[2])};
}

/// Greedy, per batch and class: the best remaining box is kept unless it overlaps a kept one by
/// more than iou_threshold; of equal scores the lower index is better. Boxes whose score is NaN are
/// never kept.
Status evaluate_non_max_suppression(EvaluateContext& context) {
  const Tensor& boxes = context.input(kBoxes);
  const bool center_point = context.attributes().get_int("center_point_box", 0) != 0;
  const auto limit = optional_scalar<int64_t>(context, kMaxBoxes).value_or(0);
  const auto iou_threshold = optional_scalar<float>(context, kIouThreshold).value_or(0.0f);
  const auto score_threshold = optional_scalar<float>(context, kScoreThreshold);
  if (!(iou_threshold >= 0 && iou_threshold <= 1)) {
    return error(StatusCode::InvalidArgument, "iou_threshold is {}, but must be from 0 to 1",
                 iou_threshold);
  }
  const int64_t batches = boxes.shape()[0];
  const int64_t count = boxes.shape()[1];
  const int64_t classes = context.input(kScores).shape()[1];

  std::vector<std::array<int64_t, 3>> selected;
  std::vector<int64_t> order;
  const bool any = limit > 0 && context.input(kScores).element_count() > 0;
  for (int64_t n = 0; any && n < batches; ++n) {
    std::vector<BoxSides<float>> sides;
    for (int64_t i = 0; i < count; ++i) {
      sides.push_back(sides_of(boxes.data<float>() + (n * count + i) * 4, center_point));
    }
    KeptBoxes kept(sides);
    for (int64_t c = 0; c < classes; ++c) {
      const float* scores = context.input(kScores).data<float>() + (n * classes + c) * count;
      order.clear();
      for (int64_t i = 0; i < count; ++i) {
        const bool good = score_threshold ? scores[i] > *score_threshold : !std::isnan(scores[i]);
        if (good) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
      kept.clear();
      for (const int64_t i : order) {
        if (static_cast<int64_t>(kept.size()) >= limit) break;
        const BoxSides<float>& box = sides[static_cast<size_t>(i)];
        if (kept.overlaps_any(box, iou_threshold)) continue;
        kept.add(box);
        selected.push_back({n, c, i});
      }
    }
  }
  HET_TRY(
      context.allocate_output(0, ElementType::Int64, {static_cast<int64_t>(selected.size()), 3}));
  int64_t* dst = context.output(0).data<int64_t>();
  for (const auto& row : selected) dst = std::copy(row.begin(), row.end(), dst);
  return {};
}

}  // namespace

HET_REGISTRATION void register_non_max_suppression(OpRegistry& registry) {
  registry.add(
      {"NonMaxSuppression", "", 11, 2, 5, infer_non_max_suppression, evaluate_non_max_suppression});
}

}  // namespace het
