#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "devices/cpu/loops/box_loops.h"
#include "devices/cpu/loops/rank_key.h"
#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"
#include "inference/ops/detection/het_box_overlap.h"
#include "inference/ops/detection/het_detection_output.h"

namespace het::cpu {
namespace {

using Box = BoxSides<float>;

struct Detection {
  uint64_t rank = 0;  ///< the larger the better; equal ones go by class
  int64_t label = 0;
  float score = 0.0f;
  Box box;
};

/// Grows in the first inferences and keeps its memory.
struct DetectionState final : KernelState {
  std::vector<uint64_t> keys;
  std::vector<Detection> found;
  /// Of a class: those kept, then the candidate.
  std::array<std::vector<float>, 4> sides;
};

/// het.DetectionOutput class by class; see its reference for the rules. Loop order: image, class,
/// then priors above the threshold, the best first.
class DetectionOutputKernel final : public Kernel {
 public:
  DetectionOutputKernel(DetectionOutputAttributes attributes, const Shape& priors)
      : attributes_(std::move(attributes)), prior_shape_(priors) {}

  std::string_view implementation() const override { return "own_simd"; }
  Result<std::unique_ptr<KernelState>> create_state() const override {
    auto state = std::make_unique<DetectionState>();
    state->keys.reserve(static_cast<size_t>(attributes_.priors));
    return std::unique_ptr<KernelState>(std::move(state));
  }

  Status execute(const KernelArgs& args, KernelState* kernel_state) const override {
    auto& state = static_cast<DetectionState&>(*kernel_state);
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    float* const end = dst + element_count(attributes_.output_shape);
    std::fill(dst, end, 0.0f);
    for (int64_t image = 0; image < attributes_.images; ++image) {
      const Inputs inputs = image_inputs(args, image);
      state.found.clear();
      for (int64_t label = 0; label < attributes_.classes; ++label) {
        if (label != attributes_.background) detect_class(inputs, label, state);
      }
      keep_best(state.found);
      for (const Detection& found : state.found) {
        const Box box = attributes_.clip_after_nms ? clipped(found.box) : found.box;
        for (const float value : {static_cast<float>(image), static_cast<float>(found.label),
                                  found.score, box.x_min, box.y_min, box.x_max, box.y_max}) {
          *dst++ = value;
        }
      }
    }
    if (dst != end) *dst = -1.0f;
    return {};
  }

 private:
  struct Inputs {
    const float* logits;
    const float* scores;
    const float* priors;
    const float* variances;  ///< null: encoded in the target
  };

  Inputs image_inputs(const KernelArgs& args, int64_t image) const {
    const auto input = [&](size_t i) { return reinterpret_cast<const float*>(args.inputs[i]); };
    Inputs inputs{};
    inputs.logits = input(0) + image * attributes_.priors * attributes_.location_classes * 4;
    inputs.scores = input(1) + image * attributes_.priors * attributes_.classes;
    inputs.priors =
        input(2) + (attributes_.prior_sets == 1 ? 0 : image) * prior_shape_[1] * prior_shape_[2];
    inputs.variances = attributes_.variance_in_target ? nullptr : inputs.priors + prior_shape_[2];
    return inputs;
  }

  void detect_class(const Inputs& inputs, int64_t label, DetectionState& state) const {
    const float* scores = inputs.scores + label;
    std::vector<uint64_t>& keys = state.keys;
    keys.clear();
    for (int64_t prior = 0; prior < attributes_.priors; ++prior) {
      const float score = scores[prior * attributes_.classes];
      if (score > attributes_.confidence_threshold) {
        keys.push_back(rank_key(order_key(score), static_cast<uint32_t>(prior)));
      }
    }
    const auto wanted = static_cast<size_t>(std::max<int64_t>(attributes_.top_k, 0));
    if (attributes_.top_k >= 0 && keys.size() > wanted) {
      std::nth_element(keys.begin(), keys.begin() + attributes_.top_k, keys.end(),
                       std::greater<>());
      keys.resize(wanted);
    }
    std::sort(keys.begin(), keys.end(), std::greater<>());
    suppress(inputs, label, state);
  }

  /// Of a class, no more than keep_top_k can be among the image's best.
  void suppress(const Inputs& inputs, int64_t label, DetectionState& state) const {
    auto& [x_min, y_min, x_max, y_max] = state.sides;
    for (std::vector<float>& side : state.sides) side.resize(state.keys.size() + 1);
    const BoxArrays boxes{x_min.data(), y_min.data(), x_max.data(), y_max.data()};
    size_t kept = 0;
    for (const uint64_t key : state.keys) {
      if (attributes_.keep_top_k >= 0 && static_cast<int64_t>(kept) >= attributes_.keep_top_k) {
        break;
      }
      const int64_t prior = rank_index(key);
      const Box box = decode(inputs, prior, label);
      x_min[kept] = box.x_min;
      y_min[kept] = box.y_min;
      x_max[kept] = box.x_max;
      y_max[kept] = box.y_max;
      if (overlaps_any(boxes, kept, kept, attributes_.nms_threshold)) continue;
      ++kept;
      const float score = inputs.scores[prior * attributes_.classes + label];
      state.found.push_back({key, label, score, box});
    }
  }

  /// Ends ordered by class, then by rank, as classes were found.
  void keep_best(std::vector<Detection>& found) const {
    const auto limit = static_cast<size_t>(std::max<int64_t>(attributes_.keep_top_k, 0));
    if (attributes_.keep_top_k < 0 || found.size() <= limit) return;
    const auto better = [](const Detection& a, const Detection& b) {
      return a.rank != b.rank ? a.rank > b.rank : a.label < b.label;
    };
    std::nth_element(found.begin(), found.begin() + attributes_.keep_top_k, found.end(), better);
    found.resize(limit);
    std::sort(found.begin(), found.end(), [](const Detection& a, const Detection& b) {
      return a.label != b.label ? a.label < b.label : a.rank > b.rank;
    });
  }

  Box decode(const Inputs& inputs, int64_t prior, int64_t label) const {
    const float* src =
        inputs.priors + prior * attributes_.prior_size() + (attributes_.normalized ? 0 : 1);
    Box reference{src[0], src[1], src[2], src[3]};
    if (!attributes_.normalized) {
      const auto width = static_cast<float>(attributes_.input_width);
      const auto height = static_cast<float>(attributes_.input_height);
      reference = {reference.x_min / width, reference.y_min / height, reference.x_max / width,
                   reference.y_max / height};
    }
    const int64_t set =
        prior * attributes_.location_classes + (attributes_.location_classes == 1 ? 0 : label);
    std::array<float, 4> offset{};
    for (size_t i = 0; i < 4; ++i) {
      const auto at = static_cast<int64_t>(i);
      offset[i] = (inputs.variances == nullptr ? 1.0f : inputs.variances[prior * 4 + at]) *
                  inputs.logits[set * 4 + at];
    }
    const Box box = moved(reference, offset);
    return attributes_.clip_before_nms ? clipped(box) : box;
  }

  Box moved(const Box& from, const std::array<float, 4>& offset) const {
    const float width = from.x_max - from.x_min;
    const float height = from.y_max - from.y_min;
    switch (attributes_.code) {
      case BoxCode::Corner:
        return {from.x_min + offset[0], from.y_min + offset[1], from.x_max + offset[2],
                from.y_max + offset[3]};
      case BoxCode::CornerSize:
        return {from.x_min + offset[0] * width, from.y_min + offset[1] * height,
                from.x_max + offset[2] * width, from.y_max + offset[3] * height};
      case BoxCode::CenterSize:
        break;
    }
    const float x = offset[0] * width + (from.x_min + from.x_max) / 2;
    const float y = offset[1] * height + (from.y_min + from.y_max) / 2;
    const float half_width = std::exp(offset[2]) * width / 2;
    const float half_height = std::exp(offset[3]) * height / 2;
    return {x - half_width, y - half_height, x + half_width, y + half_height};
  }

  static Box clipped(const Box& box) {
    const auto clip = [](float value) { return std::clamp(value, 0.0f, 1.0f); };
    return {clip(box.x_min), clip(box.y_min), clip(box.x_max), clip(box.y_max)};
  }

  DetectionOutputAttributes attributes_;
  Shape prior_shape_;
};

/// The refined form (five inputs) and MXNet's way run the reference.
Result<bool> plan_detection_output(PlanBuilder& builder, const Node& node) {
  if (node.inputs().size() != 3) return false;
  std::vector<Shape> shapes;
  for (const Value* value : node.inputs()) {
    if (value->desc().type != ElementType::Float32) return false;
    shapes.push_back(value->desc().shape);
  }
  HET_ASSIGN(DetectionOutputAttributes attributes,
             detection_output_attributes(node.attributes(), shapes));
  if (attributes.best_class_only) return false;
  std::vector<TensorId> inputs;
  for (const Value* value : node.inputs()) {
    HET_ASSIGN(inputs.emplace_back(), builder.read(*value, Format::Plain, ElementType::Float32));
  }
  const TensorId out = builder.write(
      *node.output(), {ElementType::Float32, node.output()->desc().shape, Format::Plain});
  builder.add_step(node, std::make_unique<DetectionOutputKernel>(std::move(attributes), shapes[2]),
                   std::move(inputs), {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_detection_output(KernelRegistry& registry) {
  registry.add("het", "DetectionOutput", plan_detection_output);
}

}  // namespace het::cpu
