#include <algorithm>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/detection/het_selected_boxes.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_multiclass_nms(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"iou_threshold", AttributeType::Float},
                                                  {"nms_eta", AttributeType::Float}}));
  return infer_selected_boxes(context);
}

/// Greedy: a box is kept unless it overlaps a kept one by the threshold or more. nms_eta below 1
/// lowers a threshold above 0.5 with every kept box.
std::vector<SelectedBox> select_greedily(const ClassBoxes& boxes, const SelectedBoxesRules& rules,
                                         const Attributes& attributes) {
  float threshold = attributes.get_float("iou_threshold", 0);
  const float eta = attributes.get_float("nms_eta", 1);
  std::vector<SelectedBox> kept;
  for (const int64_t i : candidates(boxes, rules, true)) {
    const BoxSides<float> box = boxes.box(i);
    const bool suppressed = std::any_of(kept.begin(), kept.end(), [&](const SelectedBox& other) {
      return intersection_over_union(box, other.box, rules.border) >= threshold;
    });
    if (suppressed) continue;
    kept.push_back({boxes.image, boxes.label, boxes.index(i), boxes.scores[i], box});
    if (eta < 1 && threshold > 0.5f) threshold *= eta;
  }
  return kept;
}

/// docs.openvino.ai, operation specifications MulticlassNonMaxSuppression-8 and -9.
Status evaluate_multiclass_nms(EvaluateContext& context) {
  return write_selected_boxes(context, read_selected_boxes_rules(context.attributes()),
                              select_greedily);
}

Status infer_matrix_nms(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"decay_function", AttributeType::String},
                                                  {"gaussian_sigma", AttributeType::Float},
                                                  {"post_threshold", AttributeType::Float}}));
  const std::string decay = context.attributes().get_string("decay_function", "linear");
  if (decay != "linear" && decay != "gaussian") {
    return error(StatusCode::InvalidArgument,
                 "decay_function is '{}', but must be linear or gaussian", decay);
  }
  return infer_selected_boxes(context);
}

/// A score fades by the least factor that a better box gives: by how much the two overlap, compared
/// with how much the better one is overlapped itself.
std::vector<SelectedBox> fade(const ClassBoxes& boxes, const SelectedBoxesRules& rules,
                              const Attributes& attributes) {
  const bool gaussian = attributes.get_string("decay_function", "linear") == "gaussian";
  const float sigma = attributes.get_float("gaussian_sigma", 2);
  const float least = attributes.get_float("post_threshold", 0);
  const std::vector<int64_t> order = candidates(boxes, rules, false);
  std::vector<float> largest(order.size(), 0.0f);  // overlap with a better box
  std::vector<float> overlap(order.size());
  std::vector<SelectedBox> selected;
  for (size_t i = 0; i < order.size(); ++i) {
    const BoxSides<float> box = boxes.box(order[i]);
    float factor = 1;
    for (size_t j = 0; j < i; ++j) {
      overlap[j] = touching_overlap(box, boxes.box(order[j]), rules.border);
      largest[i] = std::max(largest[i], overlap[j]);
    }
    for (size_t j = 0; j < i; ++j) {
      const float decay =
          gaussian ? std::exp((largest[j] * largest[j] - overlap[j] * overlap[j]) * sigma)
                   : (1 - overlap[j]) / (1 - largest[j] + 1e-10f);
      factor = std::min(factor, decay);
    }
    const float score = boxes.scores[order[i]] * factor;
    if (!(score > least)) continue;
    selected.push_back({boxes.image, boxes.label, boxes.index(order[i]), score, box});
  }
  return selected;
}

/// docs.openvino.ai, operation specification MatrixNonMaxSuppression-8.
Status evaluate_matrix_nms(EvaluateContext& context) {
  SelectedBoxesRules rules = read_selected_boxes_rules(context.attributes());
  // Classes are in order across the batch only, as in OpenVINO 2026.4.1; an image's boxes by score.
  if (!rules.across_batch) rules.order = SelectedBoxesRules::Order::Score;
  return write_selected_boxes(context, rules, fade);
}

}  // namespace

HET_REGISTRATION void register_het_multiclass_nms(OpRegistry& registry) {
  registry.add({"MulticlassNms", "het", 9, 2, 3, infer_multiclass_nms, evaluate_multiclass_nms});
  registry.add({"MatrixNms", "het", 8, 2, 2, infer_matrix_nms, evaluate_matrix_nms});
}

}  // namespace het
