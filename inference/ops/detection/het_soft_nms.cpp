#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/detection/het_box_overlap.h"
#include "inference/ops/detection/het_rotated_box.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

enum : size_t {
  kSoftBoxes,
  kSoftScores,
  kSoftMaxBoxes,
  kSoftIouThreshold,
  kSoftScoreThreshold,
  kSigma
};

bool is_rotated(const Node& node) {
  return node.op_type() == "NMSRotated";
}

Status infer_soft_nms(InferContext& context) {
  const Attributes& attributes = context.attributes();
  HET_TRY(check_attributes(attributes, {{"box_encoding", AttributeType::String},
                                        {"sort_result_descending", AttributeType::Int},
                                        {"clockwise", AttributeType::Int},
                                        {"output_type", AttributeType::String}}));
  const std::string encoding = attributes.get_string("box_encoding", "corner");
  if (encoding != "corner" && encoding != "center") {
    return error(StatusCode::InvalidArgument, "box_encoding is '{}', but must be corner or center",
                 encoding);
  }
  HET_ASSIGN(const ElementType type, index_type(attributes));
  HET_TRY(check_input(context, kSoftBoxes, "boxes", kFloat32Only));
  HET_TRY(check_input(context, kSoftScores, "scores", kFloat32Only));
  const Shape& boxes = context.shape(kSoftBoxes);
  const Shape& scores = context.shape(kSoftScores);
  const int64_t sides = is_rotated(context.node()) ? 5 : 4;
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != sides || boxes[0] != scores[0] ||
      boxes[1] != scores[2]) {
    return error(StatusCode::ShapeMismatch,
                 "boxes have shape {} and scores {}, but must have [n, boxes, {}] and [n, classes, "
                 "boxes]",
                 to_string(boxes), to_string(scores), sides);
  }
  for (size_t i = kSoftMaxBoxes; i <= kSigma; ++i) {
    HET_TRY(check_optional_input(context, i, "threshold", kNumbers));
    if (context.has_input(i) && element_count(context.shape(i)) != 1) {
      return error(StatusCode::ShapeMismatch, "input {} has shape {}, but must be one value", i,
                   to_string(context.shape(i)));
    }
  }
  context.set_output(0, type, {kUnknownDim, 3});
  context.set_output(1, ElementType::Float32, {kUnknownDim, 3});
  context.set_output(2, type, {1});
  return {};
}

struct Rules {
  int64_t most = 0;
  float iou_threshold = 0;
  float score_threshold = 0;
  float scale = 0;  ///< of the squared overlap in the exponent
};

Result<Rules> read_rules(const EvaluateContext& context) {
  double values[4] = {0, 0, 0, 0};
  for (size_t i = kSoftMaxBoxes; i <= kSigma; ++i) {
    if (!context.has_input(i)) continue;
    HET_ASSIGN(const std::vector<double> value, to_double_vector(context.input(i)));
    values[i - kSoftMaxBoxes] = value[0];
  }
  const auto boxes = static_cast<double>(context.input(kSoftBoxes).shape()[1]);
  Rules rules;
  rules.most = values[0] > 0 ? static_cast<int64_t>(std::min(values[0], boxes)) : 0;
  rules.iou_threshold = static_cast<float>(values[1]);
  rules.score_threshold = static_cast<float>(values[2]);
  rules.scale = values[3] > 0 ? static_cast<float>(-0.5 / values[3]) : 0.0f;
  return rules;
}

BoxSides<float> sides(const float* box, bool center) {
  if (center) {
    return {box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2, box[1] + box[3] / 2};
  }
  return {std::min(box[1], box[3]), std::min(box[0], box[2]), std::max(box[1], box[3]),
          std::max(box[0], box[2])};
}

struct SoftCandidate {
  float score;
  int64_t index;
  size_t seen;  ///< how many kept boxes have lowered its score already

  /// For a queue whose top has the highest score, and of equal ones the lowest index.
  bool operator<(const SoftCandidate& other) const {
    return score < other.score || (score == other.score && index > other.index);
  }
};

struct Selected {
  int64_t image;
  int64_t label;
  int64_t index;
  float score;
};

/// The overlap of two boxes of an image.
using Overlap = std::function<float(int64_t, int64_t)>;

Overlap overlap_of(const Node& node, const float* boxes) {
  if (is_rotated(node)) {
    const double turn = node.attributes().get_int("clockwise", 1) != 0 ? 1 : -1;
    const auto box = [boxes, turn](int64_t i) {
      const float* b = boxes + i * 5;
      return RotatedBox{b[0], b[1], b[2], b[3], turn * static_cast<double>(b[4])};
    };
    return [box](int64_t a, int64_t b) {
      return static_cast<float>(intersection_over_union(box(a), box(b)));
    };
  }
  const bool center = node.attributes().get_string("box_encoding", "corner") == "center";
  return [boxes, center](int64_t a, int64_t b) {
    return intersection_over_union(sides(boxes + a * 4, center), sides(boxes + b * 4, center));
  };
}

/// One class of one image. Without a sigma a candidate that overlaps a kept box by the threshold or
/// more goes. With one its score is taken times exp(-overlap^2 / (2 sigma)), and it queues again;
/// the threshold does not count then, as in OpenVINO 2026.4.1.
void select(const Rules& rules, const Overlap& overlap_of_two, const float* scores, int64_t count,
            int64_t image, int64_t label, std::vector<Selected>& selected) {
  std::priority_queue<SoftCandidate> queue;
  for (int64_t i = 0; i < count; ++i) {
    if (scores[i] > rules.score_threshold) queue.push({scores[i], i, 0});
  }
  std::vector<int64_t> kept;
  while (!queue.empty() && static_cast<int64_t>(kept.size()) < rules.most) {
    SoftCandidate next = queue.top();
    queue.pop();
    const float before = next.score;
    bool suppressed = false;
    for (size_t j = kept.size(); j-- > next.seen;) {
      const float overlap = overlap_of_two(next.index, kept[j]);
      if (rules.scale == 0) {
        suppressed = overlap >= rules.iou_threshold;
        if (suppressed) break;
        continue;
      }
      next.score *= std::exp(rules.scale * overlap * overlap);
      if (next.score <= rules.score_threshold) break;
    }
    next.seen = kept.size();
    if (suppressed) continue;
    if (next.score == before) {
      kept.push_back(next.index);
      selected.push_back({image, label, next.index, next.score});
    } else if (next.score > rules.score_threshold) {
      queue.push(next);
    }
  }
}

/// Non-maximum suppression in which scores fade. Outputs: [image, class, box] of each selected box,
/// [image, class, score], their number. docs.openvino.ai, operation specifications
/// NonMaxSuppression-9 and NMSRotated-13.
Status evaluate_soft_nms(EvaluateContext& context) {
  HET_ASSIGN(const Rules rules, read_rules(context));
  HET_ASSIGN(const ElementType type, index_type(context.attributes()));
  const Tensor& boxes = context.input(kSoftBoxes);
  const int64_t count = boxes.shape()[1];
  const int64_t classes = context.input(kSoftScores).shape()[1];
  std::vector<Selected> selected;
  const bool any = count > 0 && rules.most > 0;
  for (int64_t n = 0; any && n < boxes.shape()[0]; ++n) {
    const Overlap overlap =
        overlap_of(context.node(), boxes.data<float>() + n * count * boxes.shape()[2]);
    for (int64_t c = 0; c < classes; ++c) {
      select(rules, overlap, context.input(kSoftScores).data<float>() + (n * classes + c) * count,
             count, n, c, selected);
    }
  }
  if (context.attributes().get_int("sort_result_descending", 1) != 0) {
    std::stable_sort(selected.begin(), selected.end(),
                     [](const Selected& a, const Selected& b) { return a.score > b.score; });
  }
  const auto rows = static_cast<int64_t>(selected.size());
  HET_TRY(context.allocate_output(0, type, {rows, 3}));
  HET_TRY(dispatch_index(type, [&]<class I>() -> Status {
    I* dst = context.output(0).data<I>();
    for (const Selected& s : selected) {
      for (const int64_t value : {s.image, s.label, s.index}) *dst++ = static_cast<I>(value);
    }
    if (context.has_output(2)) context.output(2).data<I>()[0] = static_cast<I>(rows);
    return {};
  }));
  if (!context.has_output(1)) return {};
  HET_TRY(context.allocate_output(1, ElementType::Float32, {rows, 3}));
  float* dst = context.output(1).data<float>();
  for (const Selected& s : selected) {
    *dst++ = static_cast<float>(s.image);
    *dst++ = static_cast<float>(s.label);
    *dst++ = s.score;
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_het_soft_nms(OpRegistry& registry) {
  registry.add({"NonMaxSuppression", "het", 9, 2, 6, infer_soft_nms, evaluate_soft_nms});
  registry.add({"NMSRotated", "het", 13, 5, 5, infer_soft_nms, evaluate_soft_nms});
}

}  // namespace het
