#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/detection/het_box_overlap.h"
#include "inference/ops/double_values.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

constexpr int64_t kMaxSize = 1 << 20;

Status check_positive(const Attributes& attributes, std::string_view name) {
  const int64_t value = attributes.get_int(name, 0);
  if (value >= 1 && value <= INT32_MAX) return {};
  return error(StatusCode::InvalidArgument, "{} is {}, but must be from 1 to {}", name, value,
               INT32_MAX);
}

Status infer_proposal(InferContext& context) {
  const Attributes& attributes = context.attributes();
  HET_TRY(check_attributes(attributes, {{"base_size", AttributeType::Int, true},
                                        {"pre_nms_topn", AttributeType::Int, true},
                                        {"post_nms_topn", AttributeType::Int, true},
                                        {"nms_thresh", AttributeType::Float, true},
                                        {"feat_stride", AttributeType::Int, true},
                                        {"min_size", AttributeType::Int, true},
                                        {"ratio", AttributeType::Floats, true},
                                        {"scale", AttributeType::Floats, true},
                                        {"clip_before_nms", AttributeType::Int},
                                        {"clip_after_nms", AttributeType::Int},
                                        {"normalize", AttributeType::Int},
                                        {"box_size_scale", AttributeType::Float},
                                        {"box_coordinate_scale", AttributeType::Float},
                                        {"framework", AttributeType::String}}));
  for (const char* name : {"base_size", "pre_nms_topn", "post_nms_topn", "feat_stride"}) {
    HET_TRY(check_positive(attributes, name));
  }
  if (attributes.get_int("base_size", 1) > kMaxSize) {
    return error(StatusCode::InvalidArgument, "base_size is {}, but must be at most {}",
                 attributes.get_int("base_size", 1), kMaxSize);
  }
  const std::string framework = attributes.get_string("framework", "");
  if (!framework.empty() && framework != "tensorflow") {
    return error(StatusCode::InvalidArgument, "framework is '{}', but must be empty or tensorflow",
                 framework);
  }
  for (const float ratio : attributes.get_floats("ratio")) {
    if (ratio > 0) continue;
    return error(StatusCode::InvalidArgument, "ratio contains {}, but must be positive", ratio);
  }
  HET_TRY(check_input(context, 0, "class_probs", kFloatTypes));
  HET_TRY(check_input(context, 1, "bbox_deltas", kFloatTypes));
  HET_TRY(check_input(context, 2, "image_shape", kFloatTypes));
  HET_TRY(check_same_type(context, 0, 1));
  const Shape& scores = context.shape(0);
  const Shape& deltas = context.shape(1);
  const int64_t anchors = static_cast<int64_t>(attributes.get_floats("ratio").size()) *
                          static_cast<int64_t>(attributes.get_floats("scale").size());
  const int64_t size_values = element_count(context.shape(2));
  if (scores.size() != 4 || scores[1] != 2 * anchors ||
      deltas != Shape{scores[0], 4 * anchors, scores[2], scores[3]} || size_values < 3 ||
      size_values > 4) {
    return error(
        StatusCode::ShapeMismatch,
        "class_probs have shape {}, bbox_deltas {} and image_shape {}, but {} anchors need "
        "[n, {}, h, w], [n, {}, h, w] and 3 or 4 values",
        to_string(scores), to_string(deltas), to_string(context.shape(2)), anchors, 2 * anchors,
        4 * anchors);
  }
  int64_t rows = 0;
  if (__builtin_mul_overflow(scores[0], attributes.get_int("post_nms_topn", 1), &rows)) {
    rows = INT64_MAX;
  }
  HET_TRY(checked_element_count({rows, 5}));
  context.set_output(0, context.type(0), {rows, 5});
  context.set_output(1, context.type(0), {rows});
  return {};
}

/// What the attributes and the third input say, in the arithmetic of the values.
template <class Real>
struct ProposalRules {
  std::vector<BoxSides<Real>> anchors;  ///< of the point at the origin; ratio, then scale
  Real image_height = 0;
  Real image_width = 0;
  Real min_height = 0;
  Real min_width = 0;
  Real border = 1;  ///< Caffe: sides name pixels, so sizes are one more than differences
  bool tensorflow = false;
  bool clip_before_nms = true;
  Real stride = 1;
  Real coordinate_scale = 1;
  Real size_scale = 1;
};

template <class Real>
std::vector<BoxSides<Real>> make_anchors(const Attributes& attributes, bool tensorflow) {
  const auto base = static_cast<Real>(attributes.get_int("base_size", 1));
  const Real border = tensorflow ? Real(0) : Real(1);
  // TensorFlow's anchors lie around the origin, Caffe's have their corner there.
  const Real center = tensorflow ? Real(0) : (base - border) / 2;
  std::vector<BoxSides<Real>> anchors;
  for (const float ratio : attributes.get_floats("ratio")) {
    Real width = std::sqrt(base * base / static_cast<Real>(ratio));
    if (!tensorflow) width = std::round(width);
    Real height = width * static_cast<Real>(ratio);
    if (!tensorflow) height = std::round(height);
    for (const float scale : attributes.get_floats("scale")) {
      const Real half_width = (width * static_cast<Real>(scale) - border) / 2;
      const Real half_height = (height * static_cast<Real>(scale) - border) / 2;
      anchors.push_back(
          {center - half_width, center - half_height, center + half_width, center + half_height});
    }
  }
  return anchors;
}

template <class Real>
Result<ProposalRules<Real>> read_rules(const EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  HET_ASSIGN(const std::vector<double> size, to_double_vector(context.input(2)));
  ProposalRules<Real> rules;
  rules.tensorflow = attributes.get_string("framework", "") == "tensorflow";
  rules.anchors = make_anchors<Real>(attributes, rules.tensorflow);
  rules.border = rules.tensorflow ? Real(0) : Real(1);
  // x counts rows there, so the limits change places, too.
  rules.image_height = static_cast<Real>(size[rules.tensorflow ? 1 : 0]);
  rules.image_width = static_cast<Real>(size[rules.tensorflow ? 0 : 1]);
  const auto least = static_cast<double>(attributes.get_int("min_size", 0));
  rules.min_height = static_cast<Real>(least * size[2]);
  rules.min_width = static_cast<Real>(least * size[size.size() - 1]);
  rules.clip_before_nms = attributes.get_int("clip_before_nms", 1) != 0;
  rules.stride = static_cast<Real>(attributes.get_int("feat_stride", 1));
  rules.coordinate_scale = static_cast<Real>(attributes.get_float("box_coordinate_scale", 1));
  rules.size_scale = static_cast<Real>(attributes.get_float("box_size_scale", 1));
  return rules;
}

template <class Real>
BoxSides<Real> clipped(const BoxSides<Real>& box, Real width, Real height) {
  const auto clip = [](Real value, Real limit) {
    return std::max(Real(0), std::min(value, limit));
  };
  return {clip(box.x_min, width), clip(box.y_min, height), clip(box.x_max, width),
          clip(box.y_max, height)};
}

template <class Real>
struct Proposed {
  BoxSides<Real> box;
  Real score = 0;
  size_t index = 0;
};

/// An anchor moved to a point and by its four deltas.
template <class Real>
BoxSides<Real> propose(const ProposalRules<Real>& rules, const BoxSides<Real>& anchor, Real x,
                       Real y, const std::array<Real, 4>& deltas) {
  BoxSides<Real> box{x + anchor.x_min, y + anchor.y_min, x + anchor.x_max, y + anchor.y_max};
  if (rules.tensorflow) box = clipped(box, rules.image_width, rules.image_height);
  const Real width = box.x_max - box.x_min + rules.border;
  const Real height = box.y_max - box.y_min + rules.border;
  const Real center_x = box.x_min + width / 2 + deltas[0] / rules.coordinate_scale * width;
  const Real center_y = box.y_min + height / 2 + deltas[1] / rules.coordinate_scale * height;
  const Real half_width = std::exp(deltas[2] / rules.size_scale) * width / 2;
  const Real half_height = std::exp(deltas[3] / rules.size_scale) * height / 2;
  box = {center_x - half_width, center_y - half_height, center_x + half_width,
         center_y + half_height};
  if (!rules.clip_before_nms) return box;
  return clipped(box, rules.image_width - rules.border, rules.image_height - rules.border);
}

/// All proposals of one image: point by point, anchor by anchor.
template <class T, class Real>
std::vector<Proposed<Real>> propose_all(const ProposalRules<Real>& rules, const T* scores,
                                        const T* deltas, int64_t height, int64_t width) {
  const int64_t area = height * width;
  const auto anchors = static_cast<int64_t>(rules.anchors.size());
  std::vector<Proposed<Real>> proposals;
  proposals.reserve(static_cast<size_t>(area * anchors));
  for (int64_t at = 0; at < area; ++at) {
    const auto row = static_cast<Real>(at / width);
    const auto column = static_cast<Real>(at % width);
    const Real x = (rules.tensorflow ? row : column) * rules.stride;
    const Real y = (rules.tensorflow ? column : row) * rules.stride;
    for (int64_t a = 0; a < anchors; ++a) {
      std::array<Real, 4> own{};
      for (int64_t i = 0; i < 4; ++i) {
        own[static_cast<size_t>(i)] = static_cast<Real>(deltas[(a * 4 + i) * area + at]);
      }
      const BoxSides<Real> box = propose(rules, rules.anchors[static_cast<size_t>(a)], x, y, own);
      const bool large = box.x_max - box.x_min + rules.border >= rules.min_width &&
                         box.y_max - box.y_min + rules.border >= rules.min_height;
      const auto score = static_cast<Real>(scores[(anchors + a) * area + at]);
      // What is too small loses its score; NaN must not upset the sorting.
      proposals.push_back({box, large && !std::isnan(score) ? score : Real(0), proposals.size()});
    }
  }
  return proposals;
}

/// The best ones in order of score (then of position), of which no better one overlaps any.
template <class Real>
std::vector<Proposed<Real>> select(std::vector<Proposed<Real>> proposals, int64_t before,
                                   int64_t after, Real threshold, Real border) {
  const auto count = std::min(proposals.size(), static_cast<size_t>(before));
  std::partial_sort(proposals.begin(), proposals.begin() + static_cast<std::ptrdiff_t>(count),
                    proposals.end(), [](const Proposed<Real>& a, const Proposed<Real>& b) {
                      return a.score != b.score ? a.score > b.score : a.index < b.index;
                    });
  std::vector<Proposed<Real>> kept;
  for (size_t i = 0; i < count && static_cast<int64_t>(kept.size()) < after; ++i) {
    const bool overlapped = std::any_of(kept.begin(), kept.end(), [&](const Proposed<Real>& other) {
      return touching_overlap(proposals[i].box, other.box, border) > threshold;
    });
    if (!overlapped) kept.push_back(proposals[i]);
  }
  return kept;
}

/// In the input's type (float for half types). Of every image post_nms_topn rows [image, x_min,
/// y_min, x_max, y_max] and their scores; the first row without a proposal starts with -1.
/// docs.openvino.ai, operation specifications Proposal-1 and -4; Faster R-CNN (arXiv 1506.01497).
Status evaluate_proposal(EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  const Shape& shape = context.input(0).shape();
  const int64_t after = attributes.get_int("post_nms_topn", 1);
  return dispatch_float(context.input(0).type(), [&]<class T>() -> Status {
    using Real = ArithmeticType<T>;
    HET_ASSIGN(const ProposalRules<Real> rules, read_rules<Real>(context));
    const auto threshold = static_cast<Real>(attributes.get_float("nms_thresh", 0));
    const auto points = static_cast<int64_t>(rules.anchors.size()) * shape[2] * shape[3];
    for (size_t i = 0; i < 2 && context.has_output(i); ++i) {
      const std::span<T> values = context.output(i).values<T>();
      std::fill(values.begin(), values.end(), numeric_cast<T>(Real(0)));
    }
    for (int64_t image = 0; image < shape[0]; ++image) {
      const std::vector<Proposed<Real>> kept = select(
          propose_all<T, Real>(rules, context.input(0).data<T>() + image * points * 2,
                               context.input(1).data<T>() + image * points * 4, shape[2], shape[3]),
          attributes.get_int("pre_nms_topn", 1), after, threshold, rules.border);
      T* dst = context.output(0).data<T>() + image * after * 5;
      for (size_t i = 0; i < kept.size(); ++i) {
        BoxSides<Real> box = kept[i].box;
        if (attributes.get_int("clip_after_nms", 0) != 0) {
          box = clipped(box, rules.image_width, rules.image_height);
        }
        const bool parts = attributes.get_int("normalize", 0) != 0;
        const Real width = parts ? rules.image_width : Real(1);
        const Real height = parts ? rules.image_height : Real(1);
        for (const Real value : {static_cast<Real>(image), box.x_min / width, box.y_min / height,
                                 box.x_max / width, box.y_max / height}) {
          *dst++ = numeric_cast<T>(value);
        }
        if (context.has_output(1)) {
          context.output(1).data<T>()[image * after + static_cast<int64_t>(i)] =
              numeric_cast<T>(kept[i].score);
        }
      }
      if (static_cast<int64_t>(kept.size()) < after) *dst = numeric_cast<T>(Real(-1));
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_proposal(OpRegistry& registry) {
  registry.add({"Proposal", "het", 4, 3, 3, infer_proposal, evaluate_proposal});
}

}  // namespace het
