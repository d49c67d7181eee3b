#include "inference/ops/detection/het_detection_output.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/detection/het_box_overlap.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

constexpr std::array<std::string_view, 5> kNames{"box_logits", "class_preds", "proposals",
                                                 "aux_class_preds", "aux_box_preds"};

Status infer_detection_output(InferContext& context) {
  const bool refined = context.has_input(3) || context.has_input(4);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < (refined ? 5u : 3u); ++i) {
    HET_TRY(check_input(context, i, kNames[i], kFloatTypes));
    HET_TRY(check_same_type(context, 0, i));
    shapes.push_back(context.shape(i));
  }
  HET_ASSIGN(DetectionOutputAttributes attributes,
             detection_output_attributes(context.attributes(), shapes));
  context.set_output(0, context.type(0), std::move(attributes.output_shape));
  return {};
}

/// A prior of a class that competes.
template <class Real>
struct Candidate {
  Real score = 0;
  int64_t label = 0;
  int64_t prior = 0;
};

/// Best score first; then the first prior, then the first class.
template <class Real>
bool is_better(const Candidate<Real>& a, const Candidate<Real>& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.prior != b.prior) return a.prior < b.prior;
  return a.label < b.label;
}

/// Sorts and keeps the best `limit` (negative: all).
template <class Real>
void keep_best(std::vector<Candidate<Real>>& candidates, int64_t limit) {
  const auto size = static_cast<int64_t>(candidates.size());
  const int64_t kept = limit < 0 ? size : std::min(limit, size);
  std::partial_sort(candidates.begin(), candidates.begin() + kept, candidates.end(),
                    is_better<Real>);
  candidates.resize(static_cast<size_t>(kept));
}

/// The inputs of one image.
template <class T>
class ImageReader {
 public:
  using Real = ArithmeticType<T>;
  using Box = BoxSides<Real>;

  ImageReader(const EvaluateContext& context, const DetectionOutputAttributes& attributes,
              int64_t image)
      : attributes_(attributes) {
    const int64_t logits = attributes.priors * attributes.location_classes * 4;
    boxes_ = context.input(0).data<T>() + image * logits;
    scores_ = context.input(1).data<T>() + image * attributes.priors * attributes.classes;
    const Shape& shape = context.input(2).shape();
    priors_ =
        context.input(2).data<T>() + (attributes.prior_sets == 1 ? 0 : image) * shape[1] * shape[2];
    variances_ = attributes.variance_in_target ? nullptr : priors_ + shape[2];
    if (context.has_input(3)) {
      objectness_ = context.input(3).data<T>() + image * attributes.priors * 2;
      refinement_ = context.input(4).data<T>() + image * logits;
    }
  }

  /// With the refined form, priors below the objectness have a score of 0 in every class.
  Real score(int64_t prior, int64_t label) const {
    if (objectness_ != nullptr && static_cast<Real>(objectness_[prior * 2 + 1]) <
                                      static_cast<Real>(attributes_.objectness_score)) {
      return label == attributes_.background ? Real(1) : Real(0);
    }
    return static_cast<Real>(scores_[prior * attributes_.classes + label]);
  }

  Box box(int64_t prior, int64_t label) const {
    const T* src = priors_ + prior * attributes_.prior_size() + (attributes_.normalized ? 0 : 1);
    Box reference{static_cast<Real>(src[0]), static_cast<Real>(src[1]), static_cast<Real>(src[2]),
                  static_cast<Real>(src[3])};
    if (!attributes_.normalized) {
      const auto width = static_cast<Real>(attributes_.input_width);
      const auto height = static_cast<Real>(attributes_.input_height);
      reference = {reference.x_min / width, reference.y_min / height, reference.x_max / width,
                   reference.y_max / height};
    }
    const int64_t at =
        (prior * attributes_.location_classes + (attributes_.location_classes == 1 ? 0 : label)) *
        4;
    if (refinement_ != nullptr) reference = decode(reference, refinement_ + at, prior);
    return decode(reference, boxes_ + at, prior);
  }

 private:
  /// Offsets from a reference box to a box. The variances stand four by four, whatever the size of
  /// a prior.
  Box decode(const Box& reference, const T* logits, int64_t prior) const {
    std::array<Real, 4> offset{};
    for (int64_t i = 0; i < 4; ++i) {
      const Real variance =
          variances_ == nullptr ? Real(1) : static_cast<Real>(variances_[prior * 4 + i]);
      offset[static_cast<size_t>(i)] = variance * static_cast<Real>(logits[i]);
    }
    const Real width = reference.x_max - reference.x_min;
    const Real height = reference.y_max - reference.y_min;
    Box box;
    switch (attributes_.code) {
      case BoxCode::Corner:
        box = {reference.x_min + offset[0], reference.y_min + offset[1],
               reference.x_max + offset[2], reference.y_max + offset[3]};
        break;
      case BoxCode::CornerSize:
        box = {reference.x_min + offset[0] * width, reference.y_min + offset[1] * height,
               reference.x_max + offset[2] * width, reference.y_max + offset[3] * height};
        break;
      case BoxCode::CenterSize: {
        const Real x = offset[0] * width + (reference.x_min + reference.x_max) / 2;
        const Real y = offset[1] * height + (reference.y_min + reference.y_max) / 2;
        const Real half_width = std::exp(offset[2]) * width / 2;
        const Real half_height = std::exp(offset[3]) * height / 2;
        box = {x - half_width, y - half_height, x + half_width, y + half_height};
        break;
      }
    }
    return attributes_.clip_before_nms ? clipped(box) : box;
  }

 public:
  static Box clipped(const Box& box) {
    const auto clip = [](Real value) { return std::clamp(value, Real(0), Real(1)); };
    return {clip(box.x_min), clip(box.y_min), clip(box.x_max), clip(box.y_max)};
  }

 private:
  const DetectionOutputAttributes& attributes_;
  const T* boxes_ = nullptr;
  const T* scores_ = nullptr;
  const T* priors_ = nullptr;
  const T* variances_ = nullptr;  ///< null: encoded in the target
  const T* objectness_ = nullptr;
  const T* refinement_ = nullptr;
};

template <class Real>
struct Detection {
  Candidate<Real> candidate;
  BoxSides<Real> box;
};

/// The detections of one image, found one class after the other or, in MXNet's way, together.
template <class T>
class ImageDetector {
 public:
  using Real = ArithmeticType<T>;

  ImageDetector(const DetectionOutputAttributes& attributes, const ImageReader<T>& reader)
      : attributes_(attributes), reader_(reader) {}

  /// Ordered by class, then by score.
  std::vector<Detection<Real>> detect() {
    if (attributes_.best_class_only) {
      collect_best_classes();
      suppress();
    } else {
      for (int64_t label = 0; label < attributes_.classes; ++label) {
        if (label == attributes_.background) continue;
        collect_class(label);
        suppress();
      }
    }
    const auto better = [](const Detection<Real>& a, const Detection<Real>& b) {
      return is_better(a.candidate, b.candidate);
    };
    const auto limit = static_cast<size_t>(std::max<int64_t>(attributes_.keep_top_k, 0));
    if (attributes_.keep_top_k >= 0 && found_.size() > limit) {
      std::sort(found_.begin(), found_.end(), better);
      found_.resize(limit);
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [&](const Detection<Real>& a, const Detection<Real>& b) {
                       if (a.candidate.label != b.candidate.label) {
                         return a.candidate.label < b.candidate.label;
                       }
                       return better(a, b);
                     });
    return std::move(found_);
  }

 private:
  void collect_class(int64_t label) {
    const auto threshold = static_cast<Real>(attributes_.confidence_threshold);
    candidates_.clear();
    for (int64_t prior = 0; prior < attributes_.priors; ++prior) {
      const Real score = reader_.score(prior, label);
      if (score > threshold) candidates_.push_back({score, label, prior});
    }
    keep_best(candidates_, attributes_.top_k);
  }

  /// Class 0 is the background; a prior stands for its best other class.
  void collect_best_classes() {
    const auto threshold = static_cast<Real>(attributes_.confidence_threshold);
    candidates_.clear();
    for (int64_t prior = 0; prior < attributes_.priors; ++prior) {
      Candidate<Real> best{Real(-1), 0, prior};
      for (int64_t label = 1; label < attributes_.classes; ++label) {
        if (label == attributes_.background) continue;
        const Real score = reader_.score(prior, label);
        if (score > best.score) best = {score, label, prior};
      }
      if (best.label > 0 && best.score >= threshold) candidates_.push_back(best);
    }
    keep_best(candidates_, attributes_.top_k);
  }

  /// Keeps the candidates that no better one of their class overlaps. Of a class, no more than
  /// keep_top_k can be among the image's best.
  void suppress() {
    const size_t first = found_.size();
    const auto threshold = static_cast<Real>(attributes_.nms_threshold);
    for (const Candidate<Real>& candidate : candidates_) {
      const BoxSides<Real> box = reader_.box(candidate.prior, candidate.label);
      int64_t of_class = 0;
      const bool overlapped =
          std::any_of(found_.begin() + static_cast<std::ptrdiff_t>(first), found_.end(),
                      [&](const Detection<Real>& other) {
                        if (other.candidate.label != candidate.label) return false;
                        ++of_class;
                        return intersection_over_union(box, other.box) > threshold;
                      });
      if (overlapped || (attributes_.keep_top_k >= 0 && of_class >= attributes_.keep_top_k)) {
        continue;
      }
      found_.push_back({candidate, box});
    }
  }

  const DetectionOutputAttributes& attributes_;
  const ImageReader<T>& reader_;
  std::vector<Candidate<Real>> candidates_;
  std::vector<Detection<Real>> found_;
};

/// Arithmetic in the input's type (float for half types). Rows are [image, class, score, x_min,
/// y_min, x_max, y_max] by image, class and score; behind the last one the image is -1 and all else
/// 0. Boxes are decoded for candidates only.
///
/// docs.openvino.ai, operation specifications DetectionOutput-1 and -8; SSD (arXiv 1512.02325),
/// RefineDet (arXiv 1711.06897) for the form with five inputs. There the refined priors are
/// normalised; they are not divided by the input's size a second time.
Status evaluate_detection_output(EvaluateContext& context) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < (context.has_input(3) ? 5u : 3u); ++i) {
    shapes.push_back(context.input(i).shape());
  }
  HET_ASSIGN(const DetectionOutputAttributes attributes,
             detection_output_attributes(context.attributes(), shapes));
  return dispatch_float(context.input(0).type(), [&]<class T>() -> Status {
    using Real = ArithmeticType<T>;
    const std::span<T> rows = context.output(0).values<T>();
    std::fill(rows.begin(), rows.end(), numeric_cast<T>(0.0f));
    T* dst = rows.data();
    for (int64_t image = 0; image < attributes.images; ++image) {
      const ImageReader<T> reader(context, attributes, image);
      for (const Detection<Real>& found : ImageDetector<T>(attributes, reader).detect()) {
        const BoxSides<Real> box =
            attributes.clip_after_nms ? ImageReader<T>::clipped(found.box) : found.box;
        const int64_t label = found.candidate.label - (attributes.best_class_only ? 1 : 0);
        for (const Real value :
             {static_cast<Real>(image), static_cast<Real>(label), found.candidate.score, box.x_min,
              box.y_min, box.x_max, box.y_max}) {
          *dst++ = numeric_cast<T>(value);
        }
      }
    }
    if (dst != rows.data() + rows.size()) *dst = numeric_cast<T>(-1.0f);
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_detection_output(OpRegistry& registry) {
  registry.add(
      {"DetectionOutput", "het", 8, 3, 5, infer_detection_output, evaluate_detection_output});
}

}  // namespace het
