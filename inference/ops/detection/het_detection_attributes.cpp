#include <algorithm>
#include <string>

#include "inference/ops/detection/het_detection_output.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Result<BoxCode> box_code(const std::string& name) {
  // "caffe.PriorBoxParameter.CENTER_SIZE"; older files have the last word only, in lower case.
  std::string word = name.substr(name.rfind('.') + 1);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  });
  if (word == "CORNER") return BoxCode::Corner;
  if (word == "CENTER_SIZE") return BoxCode::CenterSize;
  if (word == "CORNER_SIZE") return BoxCode::CornerSize;
  return error(StatusCode::InvalidArgument,
               "code_type is '{}', but must be caffe.PriorBoxParameter.CORNER, CENTER_SIZE or "
               "CORNER_SIZE",
               name);
}

Status check_kinds(const Attributes& attributes) {
  return check_attributes(attributes, {{"num_classes", AttributeType::Int},
                                       {"background_label_id", AttributeType::Int},
                                       {"top_k", AttributeType::Int},
                                       {"variance_encoded_in_target", AttributeType::Int},
                                       {"keep_top_k", AttributeType::Ints, true},
                                       {"code_type", AttributeType::String},
                                       {"share_location", AttributeType::Int},
                                       {"nms_threshold", AttributeType::Float, true},
                                       {"confidence_threshold", AttributeType::Float},
                                       {"clip_after_nms", AttributeType::Int},
                                       {"clip_before_nms", AttributeType::Int},
                                       {"decrease_label_id", AttributeType::Int},
                                       {"normalized", AttributeType::Int},
                                       {"input_height", AttributeType::Int},
                                       {"input_width", AttributeType::Int},
                                       {"objectness_score", AttributeType::Float}});
}

Status read_limits(const Attributes& attributes, DetectionOutputAttributes& out) {
  out.background = attributes.get_int("background_label_id", 0);
  out.top_k = attributes.get_int("top_k", -1);
  const std::vector<int64_t> keep = attributes.get_ints("keep_top_k");
  if (out.top_k < -1 || keep.empty() || keep[0] < -1 || keep[0] == 0) {
    return error(StatusCode::InvalidArgument,
                 "top_k is {} and keep_top_k {}, but top_k must be -1 (all), 0 or more, and "
                 "keep_top_k -1, 1 or more",
                 out.top_k, to_string(keep));
  }
  out.keep_top_k = keep[0];
  const int64_t height = attributes.get_int("input_height", 1);
  const int64_t width = attributes.get_int("input_width", 1);
  if (height < 1 || width < 1) {
    return error(StatusCode::InvalidArgument,
                 "input_height is {} and input_width {}, but both must be 1 or more", height,
                 width);
  }
  out.input_height = static_cast<double>(height);
  out.input_width = static_cast<double>(width);
  return {};
}

/// Reads priors, classes and images from the shapes and checks that they agree.
Status read_sizes(const Attributes& attributes, const std::vector<Shape>& shapes,
                  DetectionOutputAttributes& out) {
  const Shape& boxes = shapes[0];
  const Shape& scores = shapes[1];
  const Shape& priors = shapes[2];
  const int64_t rows = out.variance_in_target ? 1 : 2;
  if (boxes.size() != 2 || scores.size() != 2 || priors.size() != 3 || scores[0] != boxes[0] ||
      (priors[0] != 1 && priors[0] != boxes[0]) || priors[1] < rows ||
      priors[2] % out.prior_size() != 0) {
    return error(StatusCode::ShapeMismatch,
                 "box_logits have shape {}, class_preds {} and proposals {}, but they must have "
                 "[n, priors * 4], [n, priors * classes] and [1 or n, {}, priors * {}]",
                 to_string(boxes), to_string(scores), to_string(priors), rows, out.prior_size());
  }
  out.images = boxes[0];
  out.prior_sets = priors[0];
  out.priors = priors[2] / out.prior_size();
  out.classes =
      attributes.get_int("num_classes", out.priors > 0 ? scores[1] / out.priors : int64_t{1});
  if (out.classes < 1 || out.classes > INT32_MAX) {
    return error(StatusCode::InvalidArgument,
                 "there are {} classes ({} class_preds of {} priors), but must be 1 or more",
                 out.classes, scores[1], out.priors);
  }
  out.location_classes = attributes.get_int("share_location", 1) != 0 ? 1 : out.classes;
  const auto expect = [&](size_t index, std::string_view name, int64_t per_prior) -> Status {
    int64_t wanted = 0;
    if (!__builtin_mul_overflow(out.priors, per_prior, &wanted) &&
        shapes[index] == Shape{out.images, wanted}) {
      return {};
    }
    return error(StatusCode::ShapeMismatch,
                 "{} have shape {}, but {} images, {} priors and {} classes need {} values per "
                 "prior",
                 name, to_string(shapes[index]), out.images, out.priors, out.classes, per_prior);
  };
  HET_TRY(expect(0, "box_logits", out.location_classes * 4));
  HET_TRY(expect(1, "class_preds", out.classes));
  if (shapes.size() == 5) {
    HET_TRY(expect(3, "aux_class_preds", 2));
    HET_TRY(expect(4, "aux_box_preds", out.location_classes * 4));
  }
  return {};
}

}  // namespace

Result<DetectionOutputAttributes> detection_output_attributes(const Attributes& attributes,
                                                              const std::vector<Shape>& shapes) {
  HET_TRY(check_kinds(attributes));
  DetectionOutputAttributes out;
  HET_TRY(read_limits(attributes, out));
  HET_ASSIGN(out.code,
             box_code(attributes.get_string("code_type", "caffe.PriorBoxParameter.CORNER")));
  out.variance_in_target = attributes.get_int("variance_encoded_in_target", 0) != 0;
  out.clip_before_nms = attributes.get_int("clip_before_nms", 0) != 0;
  out.clip_after_nms = attributes.get_int("clip_after_nms", 0) != 0;
  out.best_class_only = attributes.get_int("decrease_label_id", 0) != 0;
  out.normalized = attributes.get_int("normalized", 0) != 0;
  out.nms_threshold = attributes.get_float("nms_threshold", 0);
  out.confidence_threshold = attributes.get_float("confidence_threshold", 0);
  out.objectness_score = attributes.get_float("objectness_score", 0);
  HET_TRY(read_sizes(attributes, shapes, out));
  int64_t per_image = out.keep_top_k;
  if (per_image < 0 &&
      __builtin_mul_overflow(out.top_k > 0 ? out.top_k : out.priors, out.classes, &per_image)) {
    per_image = INT64_MAX;
  }
  int64_t rows = 0;
  if (__builtin_mul_overflow(out.images, per_image, &rows)) rows = INT64_MAX;
  out.output_shape = {1, 1, rows, 7};
  HET_TRY(checked_element_count(out.output_shape));
  return out;
}

}  // namespace het
