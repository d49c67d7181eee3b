#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/detection/het_box_overlap.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

enum : size_t { kImages, kAnchors, kAnchorDeltas, kAnchorScores };

/// Sizes that both operators share: `images` 0 stands for the one image of Detectron's.
struct ProposalSizes {
  int64_t anchors = 0;  ///< per place
  int64_t height = 0;
  int64_t width = 0;

  int64_t count() const { return anchors * height * width; }
};

Status check_common(const InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"min_size", AttributeType::Float},
                                                  {"nms_threshold", AttributeType::Float},
                                                  {"pre_nms_count", AttributeType::Int},
                                                  {"post_nms_count", AttributeType::Int}}));
  for (const size_t i : {kImages, kAnchors, kAnchorDeltas, kAnchorScores}) {
    HET_TRY(check_input(context, i, "input", kFloat32Only));
  }
  for (const char* name : {"pre_nms_count", "post_nms_count"}) {
    const int64_t count = context.attributes().get_int(name, 0);
    if (count < 0 || count > int64_t{1} << 31) {
      return error(StatusCode::InvalidArgument, "{} is {}", name, count);
    }
  }
  return {};
}

Failure shapes_error(const InferContext& context, std::string_view wanted) {
  return error(StatusCode::ShapeMismatch,
               "im_info has shape {}, anchors {}, deltas {} and scores {}, but must have {}",
               to_string(context.shape(kImages)), to_string(context.shape(kAnchors)),
               to_string(context.shape(kAnchorDeltas)), to_string(context.shape(kAnchorScores)),
               wanted);
}

struct GenerationRules {
  float min_size = 0;
  float nms_threshold = 0;
  int64_t pre_nms = 0;
  int64_t post_nms = 0;
  float border = 0;  ///< what is added to widths and heights
  float eta = 1;
  bool single_image = false;  ///< see evaluate_single_image()
};

GenerationRules read_rules(const Attributes& attributes) {
  return {attributes.get_float("min_size", 0),
          attributes.get_float("nms_threshold", 0),
          attributes.get_int("pre_nms_count", 0),
          attributes.get_int("post_nms_count", 0),
          attributes.get_int("normalized", 0) != 0 ? 0.0f : 1.0f,
          attributes.get_float("nms_eta", 1),
          false};
}

struct GeneratedBox {
  BoxSides<float> box;
  float score = 0;
  bool counts = true;  ///< not too small
};

/// Size of an image, and the least size of a box in it.
struct ImageLimits {
  float height = 0;
  float width = 0;
  float min_height = 0;
  float min_width = 0;
};

/// The anchor moved and stretched, limited to the image. Exponents end at log(1000 / 16).
BoxSides<float> moved(const float* anchor, const float (&delta)[4], const ImageLimits& image,
                      float border) {
  const float most = std::log(1000.0f / 16.0f);
  const float width = anchor[2] - anchor[0] + border;
  const float height = anchor[3] - anchor[1] + border;
  const float center_x = anchor[0] + 0.5f * width + delta[0] * width;
  const float center_y = anchor[1] + 0.5f * height + delta[1] * height;
  const float half_width = 0.5f * std::exp(std::min(delta[2], most)) * width;
  const float half_height = 0.5f * std::exp(std::min(delta[3], most)) * height;
  const auto limited = [&](float value, float limit) {
    return std::max(0.0f, std::min(value, limit - border));
  };
  return {limited(center_x - half_width, image.width),
          limited(center_y - half_height, image.height),
          limited(center_x + half_width - border, image.width),
          limited(center_y + half_height - border, image.height)};
}

/// The best pre_nms boxes of one image by descending score, of equal ones the first anchor; of them
/// those go that do not count, then what overlaps a kept box by more than the threshold.
std::vector<GeneratedBox> propose(const ProposalSizes& sizes, const GenerationRules& rules,
                                  const ImageLimits& image, const float* anchors,
                                  const float* deltas, const float* scores) {
  const int64_t area = sizes.height * sizes.width;
  std::vector<GeneratedBox> found;
  for (int64_t place = 0; place < area; ++place) {
    for (int64_t a = 0; a < sizes.anchors; ++a) {
      const auto delta = [&](int64_t k) { return deltas[(a * 4 + k) * area + place]; };
      const float values[4] = {delta(0), delta(1), delta(2), delta(3)};
      GeneratedBox next{
          moved(anchors + (place * sizes.anchors + a) * 4, values, image, rules.border),
          scores[a * area + place]};
      const bool large = next.box.x_max - next.box.x_min + rules.border >= image.min_width &&
                         next.box.y_max - next.box.y_min + rules.border >= image.min_height;
      if (rules.single_image) {
        next.score = large ? next.score : 0;
      } else {
        next.counts = large;
      }
      if (std::isnan(next.score)) next.score = 0;  // it must not upset the sorting
      found.push_back(next);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const GeneratedBox& a, const GeneratedBox& b) { return a.score > b.score; });
  if (static_cast<int64_t>(found.size()) > rules.pre_nms) {
    found.resize(static_cast<size_t>(rules.pre_nms));
  }
  std::vector<GeneratedBox> kept;
  float threshold = rules.nms_threshold;
  const float border = rules.single_image ? 0.0f : rules.border;
  for (const GeneratedBox& next : found) {
    if (static_cast<int64_t>(kept.size()) >= rules.post_nms) break;
    if (!next.counts) continue;
    const bool suppressed = std::any_of(kept.begin(), kept.end(), [&](const GeneratedBox& other) {
      return touching_overlap(next.box, other.box, border) > threshold;
    });
    if (suppressed) continue;
    kept.push_back(next);
    if (rules.eta < 1 && threshold > 0.5f) threshold *= rules.eta;
  }
  return kept;
}

float* write(const std::vector<GeneratedBox>& boxes, float* dst) {
  for (const GeneratedBox& p : boxes) {
    for (const float side : {p.box.x_min, p.box.y_min, p.box.x_max, p.box.y_max}) *dst++ = side;
  }
  return dst;
}

Result<ElementType> count_type(const Attributes& attributes) {
  const std::string name = attributes.get_string("roi_num_type", "i64");
  HET_ASSIGN(const ElementType type, parse_element_type(name));
  if (kIndexTypes.contains(type)) return type;
  return error(StatusCode::InvalidArgument, "roi_num_type is '{}', but must be i32 or i64", name);
}

Status infer_generate_proposals(InferContext& context) {
  HET_TRY(check_common(context));
  HET_TRY(check_attributes(context.attributes(), {{"normalized", AttributeType::Int},
                                                  {"nms_eta", AttributeType::Float},
                                                  {"roi_num_type", AttributeType::String}}));
  HET_ASSIGN(const ElementType type, count_type(context.attributes()));
  const Shape& scores = context.shape(kAnchorScores);
  const Shape& images = context.shape(kImages);
  const bool fits =
      scores.size() == 4 && images.size() == 2 && images[0] == scores[0] &&
      (images[1] == 3 || images[1] == 4) &&
      context.shape(kAnchors) == Shape{scores[2], scores[3], scores[1], 4} &&
      context.shape(kAnchorDeltas) == Shape{scores[0], 4 * scores[1], scores[2], scores[3]};
  if (!fits) {
    return shapes_error(
        context, "[n, 3 or 4], [h, w, anchors, 4], [n, 4 anchors, h, w], [n, anchors, h, w]");
  }
  context.set_output(0, ElementType::Float32, {kUnknownDim, 4});
  context.set_output(1, ElementType::Float32, {kUnknownDim});
  context.set_output(2, type, {scores[0]});
  return {};
}

/// docs.openvino.ai, operation specification GenerateProposals-9.
Status evaluate_generate_proposals(EvaluateContext& context) {
  const Shape& shape = context.input(kAnchorScores).shape();
  const ProposalSizes sizes{shape[1], shape[2], shape[3]};
  const GenerationRules rules = read_rules(context.attributes());
  const int64_t columns = context.input(kImages).shape()[1];
  std::vector<GeneratedBox> all;
  std::vector<double> counts;
  for (int64_t n = 0; n < shape[0]; ++n) {
    const float* size = context.input(kImages).data<float>() + n * columns;
    const ImageLimits image{size[0], size[1], rules.min_size * size[2],
                            rules.min_size * size[columns - 1]};
    const std::vector<GeneratedBox> own =
        propose(sizes, rules, image, context.input(kAnchors).data<float>(),
                context.input(kAnchorDeltas).data<float>() + n * 4 * sizes.count(),
                context.input(kAnchorScores).data<float>() + n * sizes.count());
    all.insert(all.end(), own.begin(), own.end());
    counts.push_back(static_cast<double>(own.size()));
  }
  const auto rows = static_cast<int64_t>(all.size());
  HET_TRY(context.allocate_output(0, ElementType::Float32, {rows, 4}));
  write(all, context.output(0).data<float>());
  if (!context.has_output(1)) return {};
  HET_TRY(context.allocate_output(1, ElementType::Float32, {rows}));
  float* scores = context.output(1).data<float>();
  for (const GeneratedBox& p : all) *scores++ = p.score;
  return context.has_output(2) ? store_doubles(counts, context.output(2)) : Status();
}

Status infer_single_image(InferContext& context) {
  HET_TRY(check_common(context));
  const Shape& scores = context.shape(kAnchorScores);
  const bool fits = scores.size() == 3 && context.shape(kImages) == Shape{3} &&
                    context.shape(kAnchors) == Shape{element_count(scores), 4} &&
                    context.shape(kAnchorDeltas) == Shape{4 * scores[0], scores[1], scores[2]};
  if (!fits) {
    return shapes_error(context, "[3], [h w anchors, 4], [4 anchors, h, w], [anchors, h, w]");
  }
  const int64_t rows = context.attributes().get_int("post_nms_count", 0);
  context.set_output(0, ElementType::Float32, {rows, 4});
  context.set_output(1, ElementType::Float32, {rows});
  return {};
}

/// One image; rows that are left over are 0. As in OpenVINO 2026.4.1 the image's scale does not
/// count for min_size, what is smaller has score 0, and overlaps are those of boxes without a
/// border. docs.openvino.ai, operation specification
/// ExperimentalDetectronGenerateProposalsSingleImage-6.
Status evaluate_single_image(EvaluateContext& context) {
  const Shape& shape = context.input(kAnchorScores).shape();
  const ProposalSizes sizes{shape[0], shape[1], shape[2]};
  GenerationRules rules = read_rules(context.attributes());
  rules.single_image = true;
  const float* size = context.input(kImages).data<float>();
  const ImageLimits image{size[0], size[1], rules.min_size, rules.min_size};
  const std::vector<GeneratedBox> kept = propose(
      sizes, rules, image, context.input(kAnchors).data<float>(),
      context.input(kAnchorDeltas).data<float>(), context.input(kAnchorScores).data<float>());
  const std::span<float> boxes = context.output(0).values<float>();
  std::fill(write(kept, boxes.data()), boxes.data() + boxes.size(), 0.0f);
  if (!context.has_output(1)) return {};
  const std::span<float> scores = context.output(1).values<float>();
  std::fill(scores.begin(), scores.end(), 0.0f);
  for (size_t i = 0; i < kept.size(); ++i) scores[i] = kept[i].score;
  return {};
}

}  // namespace

HET_REGISTRATION void register_het_generate_proposals(OpRegistry& registry) {
  registry.add(
      {"GenerateProposals", "het", 9, 4, 4, infer_generate_proposals, evaluate_generate_proposals});
  registry.add({"ExperimentalDetectronGenerateProposalsSingleImage", "het", 6, 4, 4,
                infer_single_image, evaluate_single_image});
}

}  // namespace het
