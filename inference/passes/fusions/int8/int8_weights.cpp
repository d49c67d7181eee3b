#include "inference/passes/fusions/int8/int8_weights.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace het {
namespace {

/// The one zero point of weights; nothing when they have several.
std::optional<int64_t> weights_zero(const ConstantScale& scale) {
  const int64_t zero = scale.zeros[0];
  if (std::ranges::any_of(scale.zeros, [&](int64_t z) { return z != zero; })) return std::nullopt;
  return zero;
}

constexpr uint64_t kEveryByte = 0x0101010101010101;
constexpr uint64_t kSigns = 0x80 * kEveryByte;

/// Eight bytes less `zero` each; the sign of a byte in `overflow` is set where that is no int8.
uint64_t less_zero(uint64_t bytes, uint64_t zero, uint64_t& overflow) {
  // No byte borrows from its neighbour: its sign is set, and put right afterwards.
  const uint64_t less = ((bytes | kSigns) - (zero & ~kSigns)) ^ ((bytes ^ ~zero) & kSigns);
  overflow |= (bytes ^ zero) & (bytes ^ less);
  return less;
}

/// The bytes of `weights` less `zero` as int8, and whether all are.
Result<std::pair<Tensor, bool>> centred(const Tensor& weights, int64_t zero) {
  HET_ASSIGN(Tensor result, Tensor::allocate({ElementType::Int8, weights.shape(), Layout::Plain}));
  // uint8 and its zero point less 128 are int8, and their difference is the same.
  const uint64_t flipped = weights.type() == ElementType::UInt8 ? kSigns : 0;
  const uint64_t zeros = static_cast<uint8_t>(zero) * kEveryByte ^ flipped;
  const auto count = static_cast<size_t>(weights.element_count());
  uint64_t overflow = 0;
  for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
    const size_t length = std::min(sizeof(uint64_t), count - at);
    uint64_t bytes = zeros ^ flipped;  // where the end is filled up: 0
    if (length == sizeof bytes) {
      std::memcpy(&bytes, weights.bytes() + at, sizeof bytes);
    } else {
      std::memcpy(&bytes, weights.bytes() + at, length);
    }
    const uint64_t less = less_zero(bytes ^ flipped, zeros, overflow);
    if (length == sizeof less) {
      std::memcpy(result.bytes() + at, &less, sizeof less);
    } else {
      std::memcpy(result.bytes() + at, &less, length);
    }
  }
  return std::pair(std::move(result), (overflow & kSigns) == 0);
}

}  // namespace

std::optional<Int8Weights> int8_weights(const Tensor& weights, const ConstantScale& scale) {
  const std::optional<int64_t> zero = weights_zero(scale);
  const bool is_signed = weights.type() == ElementType::Int8;
  if (!zero || (!is_signed && weights.type() != ElementType::UInt8)) return std::nullopt;
  if (is_signed && *zero == 0) return Int8Weights{weights, 0};
  auto made = centred(weights, *zero);
  if (made && made->second) return Int8Weights{std::move(made->first), 0};
  // Part of the zero point stays one: all of it, or what uint8 has above 128.
  if (is_signed) return Int8Weights{weights, static_cast<int32_t>(*zero)};
  made = centred(weights, 128);
  if (!made) return std::nullopt;
  return Int8Weights{std::move(made->first), static_cast<int32_t>(*zero - 128)};
}

}  // namespace het
