#include "devices/cpu/int8_support.h"

#include <algorithm>
#include <limits>

namespace het::cpu {
namespace {

/// The one zero point of a node's weights; nothing when they are computed or have several.
std::optional<int64_t> weights_zero(const Node& node) {
  const Value* weights = node.input(3);
  const std::optional<ConstantScale> scale = constant_scale(node, 4);
  if (weights == nullptr || !weights->is_constant() || !scale) return std::nullopt;
  const int64_t zero = scale->zeros[0];
  if (std::any_of(scale->zeros.begin(), scale->zeros.end(), [&](int64_t z) { return z != zero; })) {
    return std::nullopt;
  }
  return zero;
}

template <class T>
bool fit_int8(const Tensor& weights, int64_t zero) {
  T least = std::numeric_limits<T>::max();
  T largest = std::numeric_limits<T>::lowest();
  for (const T value : weights.values<T>()) {
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  return weights.element_count() == 0 || (least - zero >= -128 && largest - zero <= 127);
}

template <class T>
Result<Tensor> centred(const Tensor& weights, int64_t zero) {
  HET_ASSIGN(Tensor result, Tensor::allocate({ElementType::Int8, weights.shape(), Layout::Plain}));
  const std::span<const T> from = weights.values<T>();
  std::transform(from.begin(), from.end(), result.data<int8_t>(),
                 [zero](T value) { return static_cast<int8_t>(value - zero); });
  return result;
}

}  // namespace

bool has_int8_weights(const Node& node) {
  const std::optional<int64_t> zero = weights_zero(node);
  if (!zero) return false;
  const Tensor& weights = node.input(3)->constant();
  if (weights.type() == ElementType::Int8) return fit_int8<int8_t>(weights, *zero);
  return weights.type() == ElementType::UInt8 && fit_int8<uint8_t>(weights, *zero);
}

std::optional<Tensor> int8_weights(const Node& node) {
  if (!has_int8_weights(node)) return std::nullopt;
  const int64_t zero = *weights_zero(node);
  const Tensor& weights = node.input(3)->constant();
  if (weights.type() == ElementType::Int8 && zero == 0) return weights;
  auto result = weights.type() == ElementType::Int8 ? centred<int8_t>(weights, zero)
                                                    : centred<uint8_t>(weights, zero);
  if (!result) return std::nullopt;
  return std::move(*result);
}

}  // namespace het::cpu
