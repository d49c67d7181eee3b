#include <algorithm>
#include <cmath>

#include "inference/passes/fusions/channels/channel_affine.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

constexpr int64_t kLevels = 256;
/// How far a zero may lie from a level, in levels: limits are stored in float16 sometimes.
constexpr float kTolerance = 1e-3f;

/// One limit, or one per channel.
std::vector<float> limits_of(const Node& node, size_t index) {
  const Value* value = node.input(index);
  const Shape& shape = node.output()->desc().shape;
  if (value == nullptr || !value->is_constant() ||
      value->constant().type() != ElementType::Float32) {
    return {};
  }
  if (value->constant().element_count() == 1) return {value->constant().values<float>()[0]};
  if (shape.size() != 4) return {};
  return per_channel(value, shape, 1).value_or(std::vector<float>());
}

/// 256 levels between limits as scales and the zero point of uint8; nothing when no level is zero.
struct Levels {
  std::vector<float> scales;
  uint8_t zero = 0;
};
std::optional<Levels> levels_of(const Node& node, size_t index) {
  std::vector<float> low = limits_of(node, index);
  std::vector<float> high = limits_of(node, index + 1);
  const size_t count = std::max(low.size(), high.size());
  if (low.empty() || high.empty()) return std::nullopt;
  low.resize(count, low.front());
  high.resize(count, high.front());
  Levels levels;
  for (size_t c = 0; c < count; ++c) {
    const float scale = (high[c] - low[c]) / static_cast<float>(kLevels - 1);
    if (!(scale > 0.0f) || !std::isfinite(scale)) return std::nullopt;
    const float zero = -low[c] / scale;
    const float nearest = std::nearbyint(zero);
    if (!(nearest >= 0.0f && nearest < kLevels) || std::abs(zero - nearest) > kTolerance) {
      return std::nullopt;
    }
    const auto stored = static_cast<uint8_t>(nearest);
    if (c > 0 && stored != levels.zero) return std::nullopt;
    levels.zero = stored;
    levels.scales.push_back(scale);
  }
  return levels;
}

/// Constant weights that are stored in integers.
bool has_stored_weights(const Node& conv) {
  return conv.op_type() == "Conv" && conv.domain().empty() &&
         dequantised_constant(*conv.input(1)) != nullptr;
}

/// In front of depthwise convolutions with stored weights, whose kernels take a scale per channel.
bool may_have_channel_scales(const Model& model, const Node& node) {
  const Value& out = *node.output();
  const int64_t channels = out.desc().shape[1];
  const auto is_depthwise = [&](const Node* reader) {
    return has_stored_weights(*reader) && reader->input(0) == &out &&
           reader->attributes().get_int("group", 1) == channels &&
           reader->output()->desc().shape[1] == channels;
  };
  return !out.consumers().empty() && std::ranges::all_of(out.consumers(), is_depthwise) &&
         std::ranges::none_of(model.outputs(),
                              [&](const ModelOutput& port) { return port.value == &out; });
}

void split(Model& model, Node& node) {
  const std::optional<Levels> input = levels_of(node, 1);
  const std::optional<Levels> output = levels_of(node, 3);
  if (!input || !output || input->zero != output->zero ||
      input->scales.size() != output->scales.size()) {
    return;
  }
  const size_t count = input->scales.size();
  if (count > 1 && !may_have_channel_scales(model, node)) return;
  const Shape shape = count == 1 ? Shape{} : Shape{static_cast<int64_t>(count)};
  Value* zero =
      model.add_constant(node.name() + "/zero",
                         Tensor::from<uint8_t>(shape, std::vector<uint8_t>(count, input->zero)));
  const auto scale = [&](const std::vector<float>& values) {
    return model.add_constant(node.name() + "/scale", Tensor::from<float>(shape, values));
  };
  Attributes attributes;
  if (count > 1) attributes.set("axis", int64_t{1});
  Node* quantise = model.add_node(node.name() + "/stored", "QuantizeLinear", "",
                                  {node.input(0), scale(input->scales), zero},
                                  {node.output()->name() + "/stored"}, attributes);
  quantise->add_original_names(node.original_names());
  model.set_desc(quantise->output(),
                 {ElementType::UInt8, node.output()->desc().shape, Layout::Plain});
  replace(model, {&node,
                  &node,
                  "DequantizeLinear",
                  "",
                  {quantise->output(), scale(output->scales), zero},
                  std::move(attributes)});
}

}  // namespace

Status split_fake_quantize(Model& model) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (node.op_type() != "FakeQuantize" || node.domain() != "het" || is_detached(node) ||
        node.attributes().get_int("levels", 2) != kLevels || !node.output()->desc().is_static() ||
        node.output()->desc().type != ElementType::Float32 ||
        node.input(0)->desc().shape != node.output()->desc().shape) {
      continue;
    }
    split(model, node);
  }
  return {};
}

}  // namespace het
