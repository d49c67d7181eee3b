#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "inference/ops/products/conv.h"
#include "inference/passes/fusions/channels/channel_affine.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// A convolution of floats with constant weights and bias, everything known and finite.
struct KnownConvolution {
  Node* node = nullptr;
  ConvAttributes window;
  Shape shape;  ///< of the weights
  std::vector<float> weights;
  std::vector<float> bias;

  const Value* source() const { return node->input(0); }
  int64_t taps() const {
    int64_t count = 1;
    for (const int64_t size : window.kernel) count *= size;
    return count;
  }
};

/// The convolution that makes `value`, which nothing but `reader` reads.
std::optional<KnownConvolution> convolution_of(const Model& model, const Value& value,
                                               const Node& reader) {
  Node* node = value.producer();
  if (!is_op(node, "Conv") || only_reader(model, value) != &reader ||
      value.desc().type != ElementType::Float32) {
    return std::nullopt;
  }
  const Value* source = node->input(0);
  const Value* weights = node->input(1);
  const Value* bias = node->input(2);
  if (source == nullptr || !source->desc().is_static() || weights == nullptr ||
      !weights->is_constant() || weights->desc().type != ElementType::Float32 ||
      (bias != nullptr && !bias->is_constant())) {
    return std::nullopt;
  }
  KnownConvolution known;
  known.node = node;
  known.shape = weights->desc().shape;
  auto window = conv_attributes(*node, source->desc().shape, known.shape);
  auto values = to_float_vector(weights->constant());
  if (!window || !values || values->empty()) return std::nullopt;
  known.window = std::move(*window);
  known.weights = std::move(*values);
  known.bias.assign(static_cast<size_t>(known.shape[0]), 0.0f);
  if (bias != nullptr) {
    auto given = to_float_vector(bias->constant());
    if (!given || given->size() != known.bias.size()) return std::nullopt;
    known.bias = std::move(*given);
  }
  if (!are_finite(known.weights) || !are_finite(known.bias)) return std::nullopt;
  return known;
}

/// For each tap of a window the one of `wide` that reads the same element, or nothing where one
/// has none. `other` is at the same positions.
std::optional<std::vector<size_t>> taps_in(const Window& wide, const Window& other) {
  if (wide.strides != other.strides || wide.output != other.output) return std::nullopt;
  std::vector<size_t> taps{0};
  for (size_t d = 0; d < wide.kernel.size(); ++d) {
    std::vector<size_t> next;
    for (const size_t outer : taps) {
      for (int64_t k = 0; k < other.kernel[d]; ++k) {
        const int64_t offset = k * other.dilations[d] - other.pads_begin[d] + wide.pads_begin[d];
        const int64_t tap = offset / wide.dilations[d];
        if (offset < 0 || offset % wide.dilations[d] != 0 || tap >= wide.kernel[d]) {
          return std::nullopt;
        }
        next.push_back(outer * static_cast<size_t>(wide.kernel[d]) + static_cast<size_t>(tap));
      }
    }
    taps = std::move(next);
  }
  return taps;
}

/// wide = factor * wide + other_factor * other; false, and nothing has changed, when taps of
/// `other` are missing in `wide`.
bool add_convolution(KnownConvolution& wide, float factor, const KnownConvolution& other,
                     float other_factor) {
  if (wide.source() != other.source() || wide.window.group != other.window.group ||
      wide.shape[0] != other.shape[0]) {
    return false;
  }
  const auto taps = taps_in(wide.window, other.window);
  if (!taps) return false;
  for (float& weight : wide.weights) weight *= factor;
  const auto wide_taps = static_cast<size_t>(wide.taps());
  for (size_t i = 0; i < other.weights.size(); ++i) {
    const size_t filter = i / taps->size();
    wide.weights[filter * wide_taps + (*taps)[i % taps->size()]] += other_factor * other.weights[i];
  }
  for (size_t c = 0; c < wide.bias.size(); ++c) {
    wide.bias[c] = factor * wide.bias[c] + other_factor * other.bias[c];
  }
  return true;
}

/// The same for what happens to each channel of the source.
bool add_affine(KnownConvolution& wide, float factor, const ChannelAffine& other,
                float other_factor) {
  const int64_t channels = wide.shape[0];
  Window point = wide.window;
  std::ranges::fill(point.kernel, 1);
  std::ranges::fill(point.dilations, 1);
  std::ranges::fill(point.pads_begin, 0);
  const auto is_one = [](int64_t stride) { return stride == 1; };
  if (wide.source()->desc().shape != wide.node->output()->desc().shape ||
      static_cast<int64_t>(other.scale.size()) != channels ||
      !std::ranges::all_of(wide.window.strides, is_one)) {
    return false;
  }
  const auto tap = taps_in(wide.window, point);
  if (!tap) return false;
  for (float& weight : wide.weights) weight *= factor;
  for (int64_t c = 0; c < channels; ++c) {
    const auto channel = static_cast<size_t>(c);
    const int64_t filter = c * wide.shape[1] + c % wide.shape[1];
    wide.weights[static_cast<size_t>(filter * wide.taps()) + tap->front()] +=
        other_factor * other.scale[channel];
    wide.bias[channel] = factor * wide.bias[channel] + other_factor * other.shift[channel];
  }
  return true;
}

/// What `value` does to each channel of `source`; the source itself only for depthwise
/// convolutions: others add it while they store.
std::optional<ChannelAffine> affine_of_source(const KnownConvolution& convolution,
                                              const Value& value) {
  const Value& source = *convolution.source();
  const auto channels = static_cast<size_t>(convolution.shape[0]);
  if (&value == &source) {
    if (convolution.shape[1] != 1) return std::nullopt;
    return ChannelAffine{std::vector<float>(channels, 1.0f), std::vector<float>(channels, 0.0f)};
  }
  const Node* node = value.producer();
  if (node == nullptr || is_detached(*node) || node->outputs().size() != 1 ||
      std::ranges::find(node->inputs(), &source) == node->inputs().end()) {
    return std::nullopt;
  }
  return affine_of(*node, source, 1);
}

/// True when `value` may be computed from what the convolution reads: its weights are looked at
/// then.
bool share_source(const Node* convolution, const Value& value) {
  if (!is_op(convolution, "Conv")) return false;
  const Value* source = convolution->input(0);
  const Node* node = value.producer();
  return &value == source ||
         (node != nullptr && std::ranges::find(node->inputs(), source) != node->inputs().end());
}

void merge_at(Model& model, Node& sum) {
  const bool subtracts = is_op(&sum, "Sub");
  if ((!subtracts && !is_op(&sum, "Add")) || sum.inputs().size() != 2) return;
  const auto fits = [&](const Value* value) {
    return value != nullptr && !value->is_constant() && value->desc() == sum.output()->desc();
  };
  if (!sum.output()->desc().is_static() || !fits(sum.input(0)) || !fits(sum.input(1))) return;
  for (size_t side = 0; side < 2; ++side) {
    const Value& value = *sum.input(1 - side);
    if (!share_source(sum.input(side)->producer(), value)) continue;
    auto wide = convolution_of(model, *sum.input(side), sum);
    if (!wide) continue;
    const float factor = subtracts && side == 1 ? -1.0f : 1.0f;
    const float other_factor = subtracts && side == 0 ? -1.0f : 1.0f;
    const auto other = convolution_of(model, value, sum);
    bool merged = other && add_convolution(*wide, factor, *other, other_factor);
    if (!merged) {
      const auto affine = affine_of_source(*wide, value);
      merged = affine && add_affine(*wide, factor, *affine, other_factor);
    }
    if (!merged || !are_finite(wide->weights) || !are_finite(wide->bias)) continue;
    const std::string name = wide->node->input(1)->name();
    std::vector<Value*> inputs = {
        wide->node->input(0),
        model.add_constant(name, Tensor::from<float>(wide->shape, wide->weights)),
        model.add_constant(wide->node->name() + "/bias",
                           Tensor::from<float>({wide->shape[0]}, wide->bias))};
    Node* made =
        replace(model, {wide->node, &sum, "Conv", "", std::move(inputs), wide->node->attributes()});
    if (other && other->node->output()->consumers().empty()) {
      made->add_original_names(other->node->original_names());
      detach(model, *other->node);
    }
    return;
  }
}

}  // namespace

Status merge_convolutions(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& node = *model.nodes()[k];
    if (!is_detached(node)) merge_at(model, node);
  }
  return {};
}

}  // namespace het
