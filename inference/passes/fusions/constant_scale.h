#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "inference/model/model.h"

namespace het {

/// A scale and a zero point that are constants of the model: inputs `index` and `index + 1` of a
/// node. Nothing when one is computed at run time; an omitted zero point is 0.
struct ConstantScale {
  std::vector<float> scales;   ///< one, or one per channel
  std::vector<int64_t> zeros;  ///< as many
  bool per_tensor() const { return scales.size() == 1; }
};
std::optional<ConstantScale> constant_scale(const Node& node, size_t index);

}  // namespace het
