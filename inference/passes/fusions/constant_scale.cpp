#include "inference/passes/fusions/constant_scale.h"

namespace het {

std::optional<ConstantScale> constant_scale(const Node& node, size_t index) {
  const Value* scale = node.input(index);
  const Value* zero = node.input(index + 1);
  if (scale == nullptr || !scale->is_constant() || (zero != nullptr && !zero->is_constant())) {
    return std::nullopt;
  }
  ConstantScale result;
  const auto scales = to_float_vector(scale->constant());
  if (!scales || scales->empty()) return std::nullopt;
  result.scales = *scales;
  result.zeros.assign(result.scales.size(), 0);
  if (zero != nullptr) {
    const auto zeros = to_float_vector(zero->constant());
    if (!zeros || (zeros->size() != 1 && zeros->size() != result.zeros.size())) return std::nullopt;
    for (size_t i = 0; i < result.zeros.size(); ++i) {
      result.zeros[i] = static_cast<int64_t>((*zeros)[zeros->size() == 1 ? 0 : i]);
    }
  }
  return result;
}

}  // namespace het
