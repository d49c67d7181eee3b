#include <algorithm>
#include <array>
#include <cmath>

#include "inference/ops/windows/resize.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

/// Operators that copy values of their first input.
constexpr std::array kMovers = {"Reshape",   "Flatten", "Transpose", "Squeeze",
                                "Unsqueeze", "Slice",   "Identity",  "DepthToSpace"};

/// True when only the first output is used: MaxPool may have indices beside its values.
bool has_one_result(const Model& model, const Node& node) {
  return std::all_of(node.outputs().begin() + 1, node.outputs().end(), [&](const Value* value) {
    return value == nullptr || (value->consumers().empty() &&
                                std::ranges::none_of(model.outputs(), [&](const ModelOutput& port) {
                                  return port.value == value;
                                }));
  });
}

/// Resize to nearest neighbours, without the number that stands outside of a region.
bool picks_pixels(const Node& node) {
  const Result<ResizeSettings> settings = resize_settings(node.attributes());
  return settings && settings->mode == ResizeInterpolation::Nearest &&
         settings->coordinates != ResizeCoordinates::TfCropAndResize;
}

/// What a Pad fills with; nothing where that is not known, or no number of this type.
std::optional<float> fill_of(const Node& pad) {
  const Value* fill = pad.input(2);
  if (fill == nullptr) return 0.0f;
  if (!fill->is_constant() || fill->desc().type != ElementType::Float32 ||
      fill->constant().element_count() != 1) {
    return std::nullopt;
  }
  return fill->constant().values<float>()[0];
}

/// The byte that a number is stored as.
int64_t stored_as(float number, const StoredValue& steps) {
  const bool is_signed = steps.type() == ElementType::Int8;
  const float byte = std::nearbyint(number / steps.scale) + static_cast<float>(steps.zero);
  return static_cast<int64_t>(
      std::clamp(byte, is_signed ? -128.0f : 0.0f, is_signed ? 127.0f : 255.0f));
}

/// True for what a byte says exactly.
bool is_stored_exactly(float number, const StoredValue& steps) {
  return static_cast<float>(stored_as(number, steps) - steps.zero) * steps.scale == number;
}

/// The inputs of a Pad of bytes: what it fills with, stored.
void set_fill(Model& model, const Node& pad, const StoredValue& steps,
              std::vector<Value*>& inputs) {
  const auto byte = stored_as(*fill_of(pad), steps);
  if (inputs.size() < 3) inputs.resize(3, nullptr);
  inputs[2] =
      model.add_constant(pad.name() + "/fill", steps.type() == ElementType::Int8
                                                   ? Tensor::scalar(static_cast<int8_t>(byte))
                                                   : Tensor::scalar(static_cast<uint8_t>(byte)));
}

bool is_mover(const Model& model, const Node& node) {
  if (!node.domain().empty() || is_detached(node) || node.outputs().empty() ||
      node.output() == nullptr || !has_one_result(model, node) ||
      !node.output()->desc().is_static() || node.output()->desc().type != ElementType::Float32 ||
      node.input(0) == nullptr) {
    return false;
  }
  const std::string& type = node.op_type();
  // A larger value stays larger when it is stored: its limits and rounding are monotonous.
  if (type == "MaxPool") return node.input(0)->desc().shape.size() == 4;
  if (type == "Resize") return picks_pixels(node);
  if (type == "Pad") return fill_of(node).has_value() && !std::isnan(*fill_of(node));
  return type == "Concat" || std::ranges::find(kMovers, type) != kMovers.end();
}

/// Inputs that hold values to be moved; the others are indices.
size_t moved_inputs(const Node& node) {
  return node.op_type() == "Concat" ? node.inputs().size() : 1;
}

/// The node over bytes; its output has the same shape.
Value* on_bytes(Model& model, const Node& node, std::vector<Value*> inputs, ElementType type) {
  Node* made = model.add_node(node.name(), node.op_type(), "", std::move(inputs),
                              {node.output()->name() + "/stored"}, node.attributes());
  made->add_original_names(node.original_names());
  model.set_desc(made->output(), {type, node.output()->desc().shape, Layout::Plain});
  return made->output();
}

/// DequantizeLinear, as `old` does it, of `stored`.
Value* dequantised_like(Model& model, const Node& old, const std::string& name, Value* stored,
                        const Value& real) {
  Node* made = model.add_node(name, "DequantizeLinear", "", {stored, old.input(1), old.input(2)},
                              {real.name()}, old.attributes());
  model.set_desc(made->output(), real.desc());
  return made->output();
}

/// The same in front of a Split.
void sink_split(Model& model, Node& node) {
  if (node.op_type() != "Split" || !node.domain().empty() || is_detached(node)) return;
  const std::optional<StoredValue> src = stored_behind(*node.input(0));
  if (!src || !std::ranges::all_of(node.outputs(), [](const Value* part) {
        return part != nullptr && part->desc().is_static();
      })) {
    return;
  }
  const Node& old = *node.input(0)->producer();
  std::vector<Value*> inputs = node.inputs();
  inputs[0] = src->stored;
  std::vector<std::string> names;
  for (const Value* part : node.outputs()) names.push_back(part->name() + "/stored");
  Node* made =
      model.add_node(node.name(), "Split", "", std::move(inputs), names, node.attributes());
  made->set_affinity(node.affinity());
  made->add_original_names(node.original_names());
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    Value* part = node.outputs()[i];
    model.set_desc(made->outputs()[i], {src->type(), part->desc().shape, Layout::Plain});
    model.replace_uses(part, dequantised_like(model, old, part->name() + "/dequantised",
                                              made->outputs()[i], *part));
  }
  detach(model, node);
}

/// DequantizeLinear in front of all inputs moves behind the node.
void sink(Model& model, Node& node) {
  std::vector<Value*> inputs = node.inputs();
  std::optional<StoredValue> steps;
  for (size_t i = 0; i < moved_inputs(node); ++i) {
    const std::optional<StoredValue> src = stored_behind(*inputs[i]);
    if (!src || (steps && !same_steps(*steps, *src))) return;
    steps = src;
    inputs[i] = src->stored;
  }
  if (node.op_type() == "Pad") {
    if (!is_stored_exactly(*fill_of(node), *steps)) return;
    set_fill(model, node, *steps, inputs);
  }
  const Node& old = *node.input(0)->producer();
  Value* moved = on_bytes(model, node, std::move(inputs), steps->type());
  model.replace_uses(node.output(), dequantised_like(model, old, node.name() + "/dequantised",
                                                     moved, *node.output()));
  detach(model, node);
}

/// QuantizeLinear behind the node moves in front of all inputs.
void hoist(Model& model, Node& quantise) {
  const std::optional<StoredValue> dst = stored_by(&quantise);
  Node* node = dst ? quantise.input(0)->producer() : nullptr;
  if (node == nullptr || !is_mover(model, *node) ||
      only_reader(model, *node->output()) != &quantise) {
    return;
  }
  std::vector<Value*> inputs = node->inputs();
  for (size_t i = 0; i < moved_inputs(*node); ++i) {
    Value* real = inputs[i];
    if (!real->desc().is_static() || real->is_constant()) return;
  }
  for (size_t i = 0; i < moved_inputs(*node); ++i) {
    Value* real = inputs[i];
    Node* made = model.add_node(quantise.name(), "QuantizeLinear", "",
                                {real, quantise.input(1), quantise.input(2)},
                                {real->name() + "/stored"}, quantise.attributes());
    made->add_original_names(quantise.original_names());
    model.set_desc(made->output(), {dst->type(), real->desc().shape, Layout::Plain});
    inputs[i] = made->output();
  }
  if (node->op_type() == "Pad") set_fill(model, *node, *dst, inputs);
  Value* moved = on_bytes(model, *node, std::move(inputs), dst->type());
  model.replace_uses(dst->stored, moved);
  detach(model, quantise);
  detach(model, *node);
}

/// QuantizeLinear of what DequantizeLinear has read with the same scale.
void cancel(Model& model, Node& quantise) {
  const std::optional<StoredValue> dst = stored_by(&quantise);
  if (!dst) return;
  const std::optional<StoredValue> src = stored_behind(*quantise.input(0));
  if (!src || !same_steps(*src, *dst)) return;
  model.replace_uses(dst->stored, src->stored);
  detach(model, quantise);
}

}  // namespace

Status move_quantisation(Model& model) {
  // New nodes come last and are visited too. Whatever sinks moves towards the outputs, so this
  // ends.
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    sink_split(model, *model.nodes()[k]);
    if (is_mover(model, *model.nodes()[k])) sink(model, *model.nodes()[k]);
  }
  for (size_t k = 0; k < model.nodes().size(); ++k) cancel(model, *model.nodes()[k]);
  for (size_t k = 0; k < model.nodes().size(); ++k) hoist(model, *model.nodes()[k]);
  return {};
}

}  // namespace het
