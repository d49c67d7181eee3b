#include "devices/cpu/loops/moment_loops.h"

#include <algorithm>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/moment_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/bfloat16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V load_moment(const float* from) {
  return hn::LoadU(D(), from);
}

HWY_INLINE V load_moment(const BFloat16* from) {
  return load_bfloat16(D(), reinterpret_cast<const uint16_t*>(from));
}

HWY_INLINE void store_moment(V value, float* to) {
  hn::StoreU(value, D(), to);
}

HWY_INLINE void store_moment(V value, BFloat16* to) {
  hn::StoreU(to_bfloat16(D(), value), hn::Rebind<uint16_t, D>(), reinterpret_cast<uint16_t*>(to));
}

constexpr size_t kPart = 4096;

/// Sum of f(value) over a row; four independent chains hide the latency of the addition.
template <class T, class F, class G>
HWY_INLINE double sum_row(const T* values, size_t count, F f, G scalar) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  double total = 0.0;
  for (size_t first = 0; first < count; first += kPart) {
    const size_t end = std::min(count, first + kPart);
    V chains[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    size_t i = first;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      for (size_t k = 0; k < 4; ++k) {
        chains[k] = hn::Add(chains[k], f(load_moment(values + i + k * lanes)));
      }
    }
    for (; i + lanes <= end; i += lanes) {
      chains[0] = hn::Add(chains[0], f(load_moment(values + i)));
    }
    float rest = 0.0f;
    for (; i < end; ++i) rest += scalar(static_cast<float>(values[i]));
    const V sum = hn::Add(hn::Add(chains[0], chains[1]), hn::Add(chains[2], chains[3]));
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sum)) + rest);
  }
  return total;
}

template <class T>
Moments moments_of(const T* values, size_t count) {
  const D d;
  const double sum = sum_row(
      values, count, [](V v) { return v; }, [](float v) { return v; });
  Moments moments;
  moments.mean = static_cast<float>(sum / static_cast<double>(count));
  const V mean = hn::Set(d, moments.mean);
  const double squares = sum_row(
      values, count,
      [mean](V v) {
        const V away = hn::Sub(v, mean);
        return hn::Mul(away, away);
      },
      [&](float v) { return (v - moments.mean) * (v - moments.mean); });
  moments.variance = static_cast<float>(squares / static_cast<double>(count));
  return moments;
}

Moments moments_of_row(ElementType type, const std::byte* values, size_t count) {
  if (type == ElementType::BFloat16) {
    return moments_of(reinterpret_cast<const BFloat16*>(values), count);
  }
  return moments_of(reinterpret_cast<const float*>(values), count);
}

template <class From, class To>
void normalise_typed(const From* src, size_t count, float mean, float factor, const float* scale,
                     const float* shift, float constant_shift, To* dst) {
  const D d;
  const V mean_v = hn::Set(d, mean);
  const V factor_v = hn::Set(d, factor);
  const V constant = hn::Set(d, constant_shift);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    V value = hn::Mul(hn::Sub(load_moment(src + i), mean_v), factor_v);
    if (scale != nullptr) value = hn::Mul(value, hn::LoadU(d, scale + i));
    store_moment(hn::Add(value, shift != nullptr ? hn::LoadU(d, shift + i) : constant), dst + i);
  }
  for (; i < count; ++i) {
    float value = (static_cast<float>(src[i]) - mean) * factor;
    if (scale != nullptr) value *= scale[i];
    dst[i] = To(value + (shift != nullptr ? shift[i] : constant_shift));
  }
}

template <class From>
void normalise_from(const From* src, size_t count, float mean, float factor, const float* scale,
                    const float* shift, float constant, ElementType type, std::byte* dst) {
  if (type == ElementType::BFloat16) {
    return normalise_typed(src, count, mean, factor, scale, shift, constant,
                           reinterpret_cast<BFloat16*>(dst));
  }
  normalise_typed(src, count, mean, factor, scale, shift, constant, reinterpret_cast<float*>(dst));
}

void normalise_any(ElementType from, const std::byte* src, size_t count, float mean, float factor,
                   const float* scale, const float* shift, float constant, ElementType to,
                   std::byte* dst) {
  if (from == ElementType::BFloat16) {
    return normalise_from(reinterpret_cast<const BFloat16*>(src), count, mean, factor, scale, shift,
                          constant, to, dst);
  }
  normalise_from(reinterpret_cast<const float*>(src), count, mean, factor, scale, shift, constant,
                 to, dst);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(moments_of_row);
HWY_EXPORT(normalise_any);

Moments row_moments(ElementType type, const std::byte* values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(moments_of_row)(type, values, count);
}

void normalise_plane(ElementType from, const std::byte* src, size_t count, float mean, float factor,
                     float shift, ElementType to, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(normalise_any)
  (from, src, count, mean, factor, nullptr, nullptr, shift, to, dst);
}

void normalise_row(ElementType from, const std::byte* src, size_t count, float mean, float factor,
                   const float* scale, const float* shift, ElementType to, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(normalise_any)
  (from, src, count, mean, factor, scale, shift, 0.0f, to, dst);
}

}  // namespace het::cpu
#endif
