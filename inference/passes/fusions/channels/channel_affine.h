#pragma once

#include <optional>
#include <vector>

#include "inference/model/model.h"

namespace het {

/// y[c] = scale[c] * x[c] + shift[c] along one dimension.
struct ChannelAffine {
  std::vector<float> scale;
  std::vector<float> shift;
};

bool are_finite(const std::vector<float>& values);

/// A constant's values spread over the channels when it varies along dimension `axis` of `shape`
/// only.
std::optional<std::vector<float>> per_channel(const Value* value, const Shape& shape, size_t axis);
/// What a BatchNormalization with constant parameters does; nothing when that holds NaN or
/// infinities.
std::optional<ChannelAffine> batch_norm_affine(const Node& node);
/// What `node` - BatchNormalization, Add, Sub, Mul or Div with a constant - does to every channel
/// of its input `x`; dimension `axis` is the channels'. Nothing when that holds NaN or infinities.
std::optional<ChannelAffine> affine_of(const Node& node, const Value& x, size_t axis);

}  // namespace het
