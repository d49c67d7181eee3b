#include "inference/passes/fusions/channels/channel_affine.h"

#include <algorithm>
#include <cmath>

namespace het {

namespace {

/// Other factors and shifts stay where they are: what is folded meets single products instead of
/// their sum, and 0 * infinity would be NaN.
std::optional<ChannelAffine> if_finite(std::optional<ChannelAffine> affine) {
  if (affine && !(are_finite(affine->scale) && are_finite(affine->shift))) affine.reset();
  return affine;
}

}  // namespace

bool are_finite(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

std::optional<std::vector<float>> per_channel(const Value* value, const Shape& shape, size_t axis) {
  if (value == nullptr || !value->is_constant() || value->desc().type != ElementType::Float32 ||
      value->desc().shape.size() > shape.size()) {
    return std::nullopt;
  }
  const Shape& given = value->desc().shape;
  const size_t lead = shape.size() - given.size();
  const auto channels = static_cast<size_t>(shape[axis]);
  for (size_t d = 0; d < given.size(); ++d) {
    if (given[d] != 1 && (d + lead != axis || given[d] != shape[axis])) return std::nullopt;
  }
  const auto values = to_float_vector(value->constant());
  if (!values || values->empty()) return std::nullopt;
  return values->size() == 1 ? std::vector<float>(channels, (*values)[0]) : *values;
}

std::optional<ChannelAffine> batch_norm_affine(const Node& node) {
  const auto values = [&](size_t i) { return to_float_vector(node.input(i)->constant()); };
  for (size_t i = 1; i <= 4; ++i) {
    if (node.input(i) == nullptr || !node.input(i)->is_constant()) return std::nullopt;
  }
  if (node.attributes().get_int("training_mode", 0) != 0) return std::nullopt;
  const auto gamma = values(1);
  const auto beta = values(2);
  const auto mean = values(3);
  const auto variance = values(4);
  if (!gamma || !beta || !mean || !variance) return std::nullopt;
  const float epsilon = node.attributes().get_float("epsilon", 1e-5f);
  ChannelAffine affine;
  for (size_t c = 0; c < gamma->size(); ++c) {
    const double scale = (*gamma)[c] / std::sqrt(static_cast<double>((*variance)[c]) + epsilon);
    affine.scale.push_back(static_cast<float>(scale));
    affine.shift.push_back(static_cast<float>((*beta)[c] - (*mean)[c] * scale));
  }
  return if_finite(std::move(affine));
}

namespace {

/// The numbers of one node, whatever they are.
std::optional<ChannelAffine> any_affine_of(const Node& node, const Value& x, size_t axis) {
  if (!node.domain().empty()) return std::nullopt;
  const std::string& type = node.op_type();
  const Shape& shape = x.desc().shape;
  if (type == "BatchNormalization") {
    return axis == 1 && node.input(0) == &x ? batch_norm_affine(node) : std::nullopt;
  }
  if (type != "Add" && type != "Sub" && type != "Mul" && type != "Div") return std::nullopt;
  if (node.output()->desc().shape != shape || node.inputs().size() != 2) return std::nullopt;
  const bool first = node.input(0) == &x;
  const auto values = per_channel(node.input(first ? 1 : 0), shape, axis);
  if (!values) return std::nullopt;
  const size_t channels = values->size();
  ChannelAffine affine{std::vector<float>(channels, 1.0f), std::vector<float>(channels, 0.0f)};
  if (type == "Add") affine.shift = *values;
  if (type == "Mul") affine.scale = *values;
  if (type == "Sub") {
    for (size_t c = 0; c < channels; ++c) {
      affine.scale[c] = first ? 1.0f : -1.0f;
      affine.shift[c] = first ? -(*values)[c] : (*values)[c];
    }
  }
  if (type == "Div") {
    if (!first) return std::nullopt;
    for (size_t c = 0; c < channels; ++c) affine.scale[c] = 1.0f / (*values)[c];
  }
  return affine;
}

}  // namespace

std::optional<ChannelAffine> affine_of(const Node& node, const Value& x, size_t axis) {
  return if_finite(any_affine_of(node, x, axis));
}

}  // namespace het
