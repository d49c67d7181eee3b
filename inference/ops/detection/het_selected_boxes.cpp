#include "inference/ops/detection/het_selected_boxes.h"

#include <algorithm>
#include <tuple>

#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

enum : size_t { kCandidateBoxes, kCandidateScores, kCounts };

/// Classes of every image; the boxes of an image lie behind each other.
Result<std::vector<ClassBoxes>> class_boxes(const EvaluateContext& context) {
  const Tensor& boxes = context.input(kCandidateBoxes);
  const Tensor& scores = context.input(kCandidateScores);
  const int64_t all = boxes.shape()[1];
  std::vector<ClassBoxes> result;
  if (!context.has_input(kCounts)) {
    const int64_t classes = scores.shape()[1];
    for (int64_t n = 0; n < boxes.shape()[0]; ++n) {
      for (int64_t c = 0; c < classes; ++c) {
        result.push_back({n, c, boxes.data<float>() + n * all * 4,
                          scores.data<float>() + (n * classes + c) * all, all, n * all});
      }
    }
    return result;
  }
  HET_ASSIGN(const std::vector<int64_t> counts, to_int64_vector(context.input(kCounts)));
  int64_t first = 0;
  for (size_t n = 0; n < counts.size(); ++n) {
    if (counts[n] < 0 || counts[n] > all - first) {
      return error(StatusCode::InvalidArgument,
                   "roisnum gives image {} {} boxes from box {} on, but there are {}", n, counts[n],
                   first, all);
    }
    for (int64_t c = 0; c < boxes.shape()[0]; ++c) {
      result.push_back({static_cast<int64_t>(n), c, boxes.data<float>() + (c * all + first) * 4,
                        scores.data<float>() + c * all + first, counts[n],
                        first * boxes.shape()[0] + c, boxes.shape()[0]});
    }
    first += counts[n];
  }
  return result;
}

/// Keeps the best of one image, from `begin` on, and orders them.
void finish_image(std::vector<SelectedBox>& selected, size_t begin,
                  const SelectedBoxesRules& rules) {
  const auto first = selected.begin() + static_cast<ptrdiff_t>(begin);
  const auto better = [](const SelectedBox& a, const SelectedBox& b) {
    return std::tuple(-a.score, a.label, a.index) < std::tuple(-b.score, b.label, b.index);
  };
  std::stable_sort(first, selected.end(), better);
  if (rules.keep_top_k >= 0) {
    selected.resize(std::min(selected.size(), begin + static_cast<size_t>(rules.keep_top_k)));
  }
  if (rules.order == SelectedBoxesRules::Order::Class) {
    std::stable_sort(selected.begin() + static_cast<ptrdiff_t>(begin), selected.end(),
                     [](const SelectedBox& a, const SelectedBox& b) { return a.label < b.label; });
  }
}

void order_across_images(std::vector<SelectedBox>& selected, const SelectedBoxesRules& rules) {
  using Order = SelectedBoxesRules::Order;
  if (!rules.across_batch || rules.order == Order::None) return;
  std::stable_sort(selected.begin(), selected.end(),
                   [&](const SelectedBox& a, const SelectedBox& b) {
                     return rules.order == Order::Score ? a.score > b.score : a.label < b.label;
                   });
}

}  // namespace

SelectedBoxesRules read_selected_boxes_rules(const Attributes& attributes) {
  SelectedBoxesRules rules;
  const std::string order = attributes.get_string("sort_result_type", "none");
  rules.order = order == "classid" ? SelectedBoxesRules::Order::Class
                : order == "score" ? SelectedBoxesRules::Order::Score
                                   : SelectedBoxesRules::Order::None;
  rules.across_batch = attributes.get_int("sort_result_across_batch", 0) != 0;
  rules.score_threshold = attributes.get_float("score_threshold", 0);
  rules.nms_top_k = attributes.get_int("nms_top_k", -1);
  rules.keep_top_k = attributes.get_int("keep_top_k", -1);
  rules.background = attributes.get_int("background_class", -1);
  rules.border = attributes.get_int("normalized", 1) != 0 ? 0.0f : 1.0f;
  return rules;
}

Status infer_selected_boxes(InferContext& context) {
  const Attributes& attributes = context.attributes();
  HET_TRY(check_attributes(attributes, {{"sort_result_type", AttributeType::String},
                                        {"sort_result_across_batch", AttributeType::Int},
                                        {"output_type", AttributeType::String},
                                        {"score_threshold", AttributeType::Float},
                                        {"nms_top_k", AttributeType::Int},
                                        {"keep_top_k", AttributeType::Int},
                                        {"background_class", AttributeType::Int},
                                        {"normalized", AttributeType::Int}}));
  const std::string order = attributes.get_string("sort_result_type", "none");
  if (order != "none" && order != "classid" && order != "score") {
    return error(StatusCode::InvalidArgument,
                 "sort_result_type is '{}', but must be none, classid or score", order);
  }
  HET_TRY(check_input(context, kCandidateBoxes, "boxes", kFloat32Only));
  HET_TRY(check_input(context, kCandidateScores, "scores", kFloat32Only));
  HET_TRY(check_optional_input(context, kCounts, "roisnum", kIndexTypes));
  HET_ASSIGN(const ElementType type, index_type(attributes));
  const Shape& boxes = context.shape(kCandidateBoxes);
  const Shape& scores = context.shape(kCandidateScores);
  const bool counted = context.has_input(kCounts);
  const bool fits = boxes.size() == 3 && boxes[2] == 4 && scores.size() == (counted ? 2 : 3) &&
                    scores[0] == boxes[0] && scores.back() == boxes[1] &&
                    (!counted || context.rank(kCounts) == 1);
  if (!fits) {
    return error(StatusCode::ShapeMismatch,
                 "boxes have shape {} and scores {}, but must have [n, boxes, 4] and [n, classes, "
                 "boxes], or [classes, boxes, 4] and [classes, boxes] with roisnum [n]",
                 to_string(boxes), to_string(scores));
  }
  context.set_output(0, ElementType::Float32, {kUnknownDim, 6});
  context.set_output(1, type, {kUnknownDim, 1});
  context.set_output(2, type, {counted ? context.shape(kCounts)[0] : boxes[0]});
  return {};
}

std::vector<int64_t> candidates(const ClassBoxes& boxes, const SelectedBoxesRules& rules,
                                bool threshold_counts) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < boxes.count; ++i) {
    const float score = boxes.scores[i];
    if (score > rules.score_threshold || (threshold_counts && score == rules.score_threshold)) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return boxes.scores[a] > boxes.scores[b]; });
  if (rules.nms_top_k >= 0) {
    order.resize(std::min(order.size(), static_cast<size_t>(rules.nms_top_k)));
  }
  return order;
}

Status write_selected_boxes(EvaluateContext& context, const SelectedBoxesRules& rules,
                            std::vector<SelectedBox> (*select)(const ClassBoxes&,
                                                               const SelectedBoxesRules&,
                                                               const Attributes&)) {
  HET_ASSIGN(const std::vector<ClassBoxes> classes, class_boxes(context));
  HET_ASSIGN(const ElementType type, index_type(context.attributes()));
  const int64_t images = context.has_input(kCounts) ? context.input(kCounts).element_count()
                                                    : context.input(kCandidateBoxes).shape()[0];
  std::vector<SelectedBox> selected;
  std::vector<int64_t> counts(static_cast<size_t>(images), 0);
  for (size_t i = 0; i < classes.size();) {
    const int64_t image = classes[i].image;
    const size_t begin = selected.size();
    for (; i < classes.size() && classes[i].image == image; ++i) {
      if (classes[i].label == rules.background) continue;
      const std::vector<SelectedBox> own = select(classes[i], rules, context.attributes());
      selected.insert(selected.end(), own.begin(), own.end());
    }
    finish_image(selected, begin, rules);
    counts[static_cast<size_t>(image)] = static_cast<int64_t>(selected.size() - begin);
  }
  order_across_images(selected, rules);
  const auto rows = static_cast<int64_t>(selected.size());
  HET_TRY(context.allocate_output(0, ElementType::Float32, {rows, 6}));
  float* dst = context.output(0).data<float>();
  for (const SelectedBox& s : selected) {
    for (const float value : {static_cast<float>(s.label), s.score, s.box.x_min, s.box.y_min,
                              s.box.x_max, s.box.y_max}) {
      *dst++ = value;
    }
  }
  if (!context.has_output(1)) return {};
  HET_TRY(context.allocate_output(1, type, {rows, 1}));
  return dispatch_index(type, [&]<class I>() -> Status {
    I* indices = context.output(1).data<I>();
    for (const SelectedBox& s : selected) *indices++ = static_cast<I>(s.index);
    if (!context.has_output(2)) return {};
    I* numbers = context.output(2).data<I>();
    for (const int64_t count : counts) *numbers++ = static_cast<I>(count);
    return {};
  });
}

}  // namespace het
