#include "inference/passes/fusions/int8/int8_weights.h"

#include <algorithm>
#include <limits>

namespace het {
namespace {

/// The one zero point of weights; nothing when they have several.
std::optional<int64_t> weights_zero(const ConstantScale& scale) {
  const int64_t zero = scale.zeros[0];
  if (std::ranges::any_of(scale.zeros, [&](int64_t z) { return z != zero; })) return std::nullopt;
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

std::optional<Int8Weights> int8_weights(const Tensor& weights, const ConstantScale& scale) {
  const std::optional<int64_t> zero = weights_zero(scale);
  const bool is_signed = weights.type() == ElementType::Int8;
  if (!zero || (!is_signed && weights.type() != ElementType::UInt8)) return std::nullopt;
  const bool fits =
      is_signed ? fit_int8<int8_t>(weights, *zero) : fit_int8<uint8_t>(weights, *zero);
  // What is taken from each value now; the rest of the zero point stays one. uint8 needs 128.
  const int64_t centre = fits ? *zero : is_signed ? 0 : 128;
  Int8Weights made{weights, static_cast<int32_t>(*zero - centre)};
  if (is_signed && centre == 0) return made;
  auto content = is_signed ? centred<int8_t>(weights, centre) : centred<uint8_t>(weights, centre);
  if (!content) return std::nullopt;
  made.content = std::move(*content);
  return made;
}

}  // namespace het
