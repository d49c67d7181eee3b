#include "devices/cpu/int8_support.h"

#include <algorithm>

namespace het::cpu {

std::optional<Tensor> int8_weights(const Node& node) {
  const Value* weights = node.input(3);
  const std::optional<ConstantScale> scale = constant_scale(node, 4);
  if (weights == nullptr || !weights->is_constant() || !scale) return std::nullopt;
  const int64_t zero = scale->zeros[0];
  if (std::any_of(scale->zeros.begin(), scale->zeros.end(), [&](int64_t z) { return z != zero; })) {
    return std::nullopt;
  }
  const Tensor& content = weights->constant();
  if (content.type() == ElementType::Int8 && zero == 0) return content;
  const auto values = to_float_vector(content);
  if (!values) return std::nullopt;
  std::vector<int8_t> centred;
  for (const float value : *values) {
    const int64_t difference = static_cast<int64_t>(value) - zero;
    if (difference < -128 || difference > 127) return std::nullopt;
    centred.push_back(static_cast<int8_t>(difference));
  }
  return Tensor::from<int8_t>(content.shape(), centred);
}

}  // namespace het::cpu
