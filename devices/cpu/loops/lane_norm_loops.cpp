#include "devices/cpu/loops/lane_norm_loops.h"

#include <algorithm>
#include <cstdint>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/lane_norm_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/bfloat16-inl.h"
#include "devices/cpu/loops/channel_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Pixels whose sums are carried over to double.
constexpr size_t kLanePart = 1024;

/// Sums of f(value, channel's mean) of kLanes channels. Four chains hide the latency of additions.
template <size_t kLanes, class T, class F>
HWY_INLINE void sum_lanes_by(const Lanes& src, const float* means, double* sums, F f) {
  const hn::CappedTag<float, kLanes> d;
  constexpr size_t kStep = hn::MaxLanes(hn::CappedTag<float, kLanes>());
  const auto* values = reinterpret_cast<const T*>(src.values);
  std::fill_n(sums, kLanes, 0.0);
  for (size_t first = 0; first < src.count; first += kLanePart) {
    const size_t end = std::min(src.count, first + kLanePart);
    for (size_t lane = 0; lane < kLanes; lane += kStep) {
      const auto mean = hn::LoadU(d, means + lane);
      hn::Vec<decltype(d)> chains[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
      const T* from = values + first * src.step + lane;
      size_t i = first;
      for (; i + 4 <= end; i += 4, from += 4 * src.step) {
#pragma GCC unroll 4
        for (size_t k = 0; k < 4; ++k) {
          chains[k] = hn::Add(chains[k], f(load_channels(d, from + k * src.step), mean));
        }
      }
      for (; i < end; ++i, from += src.step) {
        chains[0] = hn::Add(chains[0], f(load_channels(d, from), mean));
      }
      HWY_ALIGN float sum[kStep];
      hn::Store(hn::Add(hn::Add(chains[0], chains[1]), hn::Add(chains[2], chains[3])), d, sum);
      for (size_t k = 0; k < kStep; ++k) sums[lane + k] += static_cast<double>(sum[k]);
    }
  }
}

template <size_t kLanes, class T>
HWY_INLINE void sum_typed_lanes(const Lanes& src, const float* means, double* sums) {
  if (means == nullptr) {
    const float zeros[kLanes] = {};
    return sum_lanes_by<kLanes, T>(src, zeros, sums, [](auto v, auto) { return v; });
  }
  sum_lanes_by<kLanes, T>(src, means, sums, [](auto v, auto mean) {
    const auto away = hn::Sub(v, mean);
    return hn::Mul(away, away);
  });
}

void sum_lanes(const Lanes& src, const float* means, double* sums) {
  const bool narrow = src.type == ElementType::BFloat16;
  if (src.lanes == 16) {
    if (narrow) return sum_typed_lanes<16, uint16_t>(src, means, sums);
    return sum_typed_lanes<16, float>(src, means, sums);
  }
  if (narrow) return sum_typed_lanes<8, uint16_t>(src, means, sums);
  sum_typed_lanes<8, float>(src, means, sums);
}

template <bool kNative, size_t kLanes, class From, class To>
HWY_INLINE void normalise_lanes_to(const Lanes& src, const float* mean, const float* factor,
                                   const float* shift, To* dst) {
  const hn::CappedTag<float, kLanes> d;
  constexpr size_t kStep = hn::MaxLanes(hn::CappedTag<float, kLanes>());
  for (size_t lane = 0; lane < kLanes; lane += kStep) {
    const auto mean_v = hn::LoadU(d, mean + lane);
    const auto factor_v = hn::LoadU(d, factor + lane);
    const auto shift_v = hn::LoadU(d, shift + lane);
    const From* from = reinterpret_cast<const From*>(src.values) + lane;
    To* to = dst + lane;
    for (size_t i = 0; i < src.count; ++i, from += src.step, to += src.step) {
      const auto away = hn::Sub(load_channels(d, from), mean_v);
      store_channels_by<kNative>(d, hn::MulAdd(away, factor_v, shift_v), to);
    }
  }
}

template <size_t kLanes, class From>
HWY_INLINE void normalise_lanes_from(const Lanes& src, const float* mean, const float* factor,
                                     const float* shift, ElementType to, std::byte* dst) {
  if (to == ElementType::Float32) {
    return normalise_lanes_to<false, kLanes, From>(src, mean, factor, shift,
                                                   reinterpret_cast<float*>(dst));
  }
  auto* halves = reinterpret_cast<uint16_t*>(dst);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if (has_bfloat16_instructions()) {
    return normalise_lanes_to<true, kLanes, From>(src, mean, factor, shift, halves);
  }
#endif
  normalise_lanes_to<false, kLanes, From>(src, mean, factor, shift, halves);
}

template <size_t kLanes>
HWY_INLINE void normalise_typed_lanes(const Lanes& src, const float* mean, const float* factor,
                                      const float* shift, ElementType to, std::byte* dst) {
  if (src.type == ElementType::BFloat16) {
    return normalise_lanes_from<kLanes, uint16_t>(src, mean, factor, shift, to, dst);
  }
  normalise_lanes_from<kLanes, float>(src, mean, factor, shift, to, dst);
}

void normalise_any_lanes(const Lanes& src, const float* mean, const float* factor,
                         const float* shift, ElementType to, std::byte* dst) {
  if (src.lanes == 16) return normalise_typed_lanes<16>(src, mean, factor, shift, to, dst);
  normalise_typed_lanes<8>(src, mean, factor, shift, to, dst);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(sum_lanes);
HWY_EXPORT(normalise_any_lanes);

void lane_sums(const Lanes& src, const float* means, double* sums) {
  HWY_DYNAMIC_DISPATCH(sum_lanes)(src, means, sums);
}

void normalise_lanes(const Lanes& src, const float* mean, const float* factor, const float* shift,
                     ElementType to, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(normalise_any_lanes)(src, mean, factor, shift, to, dst);
}

}  // namespace het::cpu
#endif
