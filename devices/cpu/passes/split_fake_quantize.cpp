#include <cmath>

#include "devices/cpu/passes/int8_passes.h"
#include "devices/cpu/passes/rewrite.h"

namespace het::cpu {
namespace {

constexpr int64_t kLevels = 256;
/// How far a zero may lie from a level, in levels: limits are stored in float16 sometimes.
constexpr float kTolerance = 1e-3f;

std::optional<float> scalar(const Value* value) {
  if (value == nullptr || !value->is_constant() || value->constant().element_count() != 1 ||
      value->constant().type() != ElementType::Float32) {
    return std::nullopt;
  }
  return value->constant().values<float>()[0];
}

/// 256 levels from `low` to `high` as scale and zero point of uint8; nothing when no level is zero.
struct Levels {
  float scale;
  uint8_t zero;
};
std::optional<Levels> levels_of(const Node& node, size_t index) {
  const std::optional<float> low = scalar(node.input(index));
  const std::optional<float> high = scalar(node.input(index + 1));
  if (!low || !high) return std::nullopt;
  const float scale = (*high - *low) / static_cast<float>(kLevels - 1);
  if (!(scale > 0.0f) || !std::isfinite(scale)) return std::nullopt;
  const float zero = -*low / scale;
  const float nearest = std::nearbyint(zero);
  if (!(nearest >= 0.0f && nearest < kLevels) || std::abs(zero - nearest) > kTolerance) {
    return std::nullopt;
  }
  return Levels{scale, static_cast<uint8_t>(nearest)};
}

void split(Model& model, Node& node) {
  const std::optional<Levels> input = levels_of(node, 1);
  const std::optional<Levels> output = levels_of(node, 3);
  if (!input || !output || input->zero != output->zero) return;
  Value* zero = model.add_constant(node.name() + "/zero", Tensor::scalar(input->zero));
  const auto scale = [&](float value) {
    return model.add_constant(node.name() + "/scale", Tensor::scalar(value));
  };
  Node* quantise = model.add_node(node.name() + "/stored", "QuantizeLinear", "",
                                  {node.input(0), scale(input->scale), zero},
                                  {node.output()->name() + "/stored"});
  quantise->add_original_names(node.original_names());
  model.set_desc(quantise->output(),
                 {ElementType::UInt8, node.output()->desc().shape, Layout::Plain});
  replace(
      model,
      {&node, &node, "DequantizeLinear", "", {quantise->output(), scale(output->scale), zero}, {}});
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

}  // namespace het::cpu
