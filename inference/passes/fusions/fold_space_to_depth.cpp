#include <algorithm>
#include <array>

#include "inference/ops/movement/slice.h"
#include "inference/ops/products/conv.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Pixels that lie kFactor apart go to channels of their own.
constexpr int64_t kFactor = 2;
constexpr size_t kPhases = kFactor * kFactor;
/// Pictures with more channels fill vectors as they are.
constexpr int64_t kMostChannels = 4;

/// What a value shows of a picture: every kFactor-th row and column from these on.
struct Phase {
  Value* picture = nullptr;
  int64_t row = 0;
  int64_t column = 0;
};

/// Follows Slices up to the picture.
std::optional<Phase> phase_of(Value* value) {
  const Shape shape = value->desc().shape;
  std::vector<int64_t> starts(shape.size(), 0);
  std::vector<int64_t> steps(shape.size(), 1);
  const Node* node = value->producer();
  while (node != nullptr && node->op_type() == "Slice" && node->domain().empty() &&
         !is_detached(*node) && node->input(0)->desc().is_static()) {
    for (size_t i = 1; i < node->inputs().size(); ++i) {
      if (node->input(i) != nullptr && !node->input(i)->is_constant()) return std::nullopt;
    }
    const auto optional = [&](size_t i) {
      return node->input(i) != nullptr ? &node->input(i)->constant() : nullptr;
    };
    if (optional(1) == nullptr || optional(2) == nullptr) return std::nullopt;
    const auto range = slice_range(node->input(0)->desc().shape, *optional(1), *optional(2),
                                   optional(3), optional(4));
    if (!range || range->starts.size() != shape.size()) return std::nullopt;
    for (size_t d = 0; d < shape.size(); ++d) {
      starts[d] = range->starts[d] + range->steps[d] * starts[d];
      steps[d] *= range->steps[d];
    }
    value = node->input(0);
    node = value->producer();
  }
  const Shape& whole = value->desc().shape;
  if (whole.size() != 4 || shape.size() != 4 ||
      steps != std::vector<int64_t>{1, 1, kFactor, kFactor} || starts[0] != 0 || starts[1] != 0 ||
      starts[2] >= kFactor || starts[3] >= kFactor ||
      whole != Shape{shape[0], shape[1], shape[2] * kFactor, shape[3] * kFactor}) {
    return std::nullopt;
  }
  return Phase{value, starts[2], starts[3]};
}

/// The parts of a Concat of all phases of one picture, in its order.
std::optional<std::array<Phase, kPhases>> phases_of(const Node& concat) {
  if (concat.op_type() != "Concat" || !concat.domain().empty() || is_detached(concat) ||
      concat.inputs().size() != kPhases || concat.attributes().get_int("axis", 0) != 1) {
    return std::nullopt;
  }
  std::array<Phase, kPhases> phases;
  std::array<bool, kPhases> seen{};
  for (size_t i = 0; i < kPhases; ++i) {
    Value* part = concat.input(i);
    if (!part->desc().is_static() || part->desc().type != ElementType::Float32) return std::nullopt;
    const std::optional<Phase> phase = phase_of(part);
    if (!phase || (i > 0 && phase->picture != phases[0].picture)) return std::nullopt;
    bool& known = seen[static_cast<size_t>(phase->row * kFactor + phase->column)];
    if (known) return std::nullopt;
    known = true;
    phases[i] = *phase;
  }
  return phases;
}

/// Weights [oc, phases * c, kh, kw] over the picture itself: [oc, c, factor * kh, factor * kw].
Tensor spread_weights(const Tensor& weights, const std::array<Phase, kPhases>& phases) {
  const Shape from = weights.shape();
  const int64_t channels = from[1] / static_cast<int64_t>(kPhases);
  const Shape to = {from[0], channels, from[2] * kFactor, from[3] * kFactor};
  const std::span<const float> src = weights.values<float>();
  std::vector<float> dst(src.size());
  size_t next = 0;
  for (int64_t o = 0; o < from[0]; ++o) {
    for (const Phase& phase : phases) {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t y = 0; y < from[2]; ++y) {
          for (int64_t x = 0; x < from[3]; ++x) {
            const int64_t row = (o * channels + c) * to[2] + y * kFactor + phase.row;
            dst[static_cast<size_t>(row * to[3] + x * kFactor + phase.column)] = src[next++];
          }
        }
      }
    }
  }
  return Tensor::from<float>(to, dst);
}

bool is_plain_conv(const Node& conv) {
  return conv.op_type() == "Conv" && conv.domain().empty() && conv.output()->desc().is_static() &&
         conv.input(1)->is_constant() && conv.input(1)->desc().type == ElementType::Float32 &&
         conv.input(1)->desc().shape.size() == 4;
}

std::vector<int64_t> scaled(std::vector<int64_t> values) {
  for (int64_t& value : values) value *= kFactor;
  return values;
}

}  // namespace

Status fold_space_to_depth(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& concat = *model.nodes()[k];
    const auto phases = phases_of(concat);
    if (!phases || phases->front().picture->desc().shape[1] > kMostChannels) continue;
    Node* conv = only_reader(model, *concat.output());
    if (conv == nullptr || conv->input(0) != concat.output() || !is_plain_conv(*conv)) continue;
    HET_ASSIGN(const ConvAttributes window,
               conv_attributes(*conv, concat.output()->desc().shape, conv->input(1)->desc().shape));
    const auto is_one = [](int64_t value) { return value == 1; };
    if (window.group != 1 || !std::ranges::all_of(window.dilations, is_one)) continue;
    std::vector<Value*> inputs = conv->inputs();
    inputs[0] = phases->front().picture;
    inputs[1] = model.add_constant(conv->input(1)->name(),
                                   spread_weights(conv->input(1)->constant(), *phases));
    std::vector<int64_t> pads = scaled(window.pads_begin);
    for (const int64_t pad : scaled(window.pads_end)) pads.push_back(pad);
    Attributes attributes = conv->attributes();
    attributes.erase("auto_pad");
    attributes.erase("kernel_shape");
    attributes.set("pads", std::move(pads));
    attributes.set("strides", scaled(window.strides));
    Node* made = replace(model, {conv, conv, "Conv", "", std::move(inputs), std::move(attributes)});
    made->add_original_names(concat.original_names());
    detach(model, concat);
  }
  return {};
}

}  // namespace het
