// The register tile of depthwise convolutions: its vectors in memory, and what happens to its sums.
// Included by depthwise_loops.cpp after hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "devices/cpu/loops/activation-inl.h"
#include "devices/cpu/loops/channel_values-inl.h"
#include "devices/cpu/loops/depthwise_loops.h"

#if defined(HET_DEPTHWISE_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_DEPTHWISE_TILE_INL_H
#undef HET_DEPTHWISE_TILE_INL_H
#else
#define HET_DEPTHWISE_TILE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DepthwiseTag = hn::CappedTag<float, 16>;
using DepthwiseVector = hn::Vec<DepthwiseTag>;
constexpr int64_t kChannels = static_cast<int64_t>(hn::MaxLanes(DepthwiseTag()));

/// Rows and columns of the result that are summed together in registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kSumRows = 2;
#else
constexpr int kSumRows = 1;
#endif
constexpr int kSumColumns = 7;
constexpr int kSums = kSumRows * kSumColumns;

/// For bodies of unrolled().
#define HET_INLINE_BODY HWY_ATTR __attribute__((always_inline))

/// body(0) ... body(kCount - 1) with constants. Vectors of an array stay in registers for certain
/// only where all indices are constants before loops are unrolled.
template <class Body, int... kIndices>
HWY_INLINE void for_each_index(const Body& body, std::integer_sequence<int, kIndices...>) {
  (body(std::integral_constant<int, kIndices>()), ...);
}
template <int kCount, class Body>
HWY_INLINE void unrolled(const Body& body) {
  for_each_index(body, std::make_integer_sequence<int, kCount>());
}

/// True where the processor rounds to bfloat16 by itself.
HWY_INLINE bool rounds_to_bfloat16() {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  static const bool does = __builtin_cpu_supports("avx512bf16") != 0;
  return does;
#else
  return false;
#endif
}

/// The same as store_channels() by one instruction, where the processor has it. Numbers below the
/// smallest normal one become 0.
HWY_INLINE void store_rounded(DepthwiseVector value, uint16_t* to) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // Highway 1.0 has it not, and compilers only in functions that are made for such processors.
  __m256i bits;
  asm("vcvtneps2bf16 %1, %0" : "=v"(bits) : "v"(value.raw));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bits);
#else
  store_channels(DepthwiseTag(), value, to);
#endif
}

/// One operation on all sums.
template <Accuracy kAccuracy>
HWY_INLINE void apply_depthwise(const DepthwiseOp& op, int64_t slopes, DepthwiseVector* sums) {
  const DepthwiseTag d;
  const auto zero = hn::Zero(d);
  const auto alpha = hn::Set(d, op.alpha);
  const auto beta = hn::Set(d, op.beta);
  switch (op.kind) {
    case DepthwiseOp::Kind::PRelu: {
      const auto slope = hn::LoadU(d, op.slopes.data() + slopes);
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) {
        sums[i] = hn::IfThenElse(hn::Lt(sums[i], zero), hn::Mul(sums[i], slope), sums[i]);
      }
      return;
    }
    case DepthwiseOp::Kind::Relu:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) {
        sums[i] = hn::IfThenElse(hn::Lt(sums[i], zero), hn::Mul(sums[i], alpha), sums[i]);
      }
      return;
    case DepthwiseOp::Kind::Clip:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) sums[i] = clamped(sums[i], alpha, beta);
      return;
    case DepthwiseOp::Kind::Linear:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) sums[i] = hn::MulAdd(sums[i], alpha, beta);
      return;
    case DepthwiseOp::Kind::HardSwish:
#pragma GCC unroll 14
      for (int i = 0; i < kSums; ++i) {
        const auto gate = hn::MulAdd(sums[i], hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f));
        sums[i] = hn::Mul(sums[i], clamped(gate, zero, hn::Set(d, 1.0f)));
      }
      return;
    case DepthwiseOp::Kind::Sigmoid:
#pragma GCC unroll 2
      for (int i = 0; i < kSums; ++i) sums[i] = fast_sigmoid<kAccuracy>(d, sums[i]);
      return;
    case DepthwiseOp::Kind::Swish:
#pragma GCC unroll 2
      for (int i = 0; i < kSums; ++i) sums[i] = fast_swish<kAccuracy>(d, sums[i], op.alpha);
      return;
    case DepthwiseOp::Kind::Tanh:
#pragma GCC unroll 2
      for (int i = 0; i < kSums; ++i) sums[i] = fast_tanh<kAccuracy>(d, sums[i]);
      return;
    case DepthwiseOp::Kind::GeluErf:
#pragma GCC unroll 2
      for (int i = 0; i < kSums; ++i) sums[i] = fast_gelu_erf<kAccuracy>(d, sums[i]);
      return;
    case DepthwiseOp::Kind::GeluTanh:
#pragma GCC unroll 2
      for (int i = 0; i < kSums; ++i) sums[i] = fast_gelu_tanh<kAccuracy>(d, sums[i]);
      return;
  }
}

template <Accuracy kAccuracy>
HWY_NOINLINE void apply_rest(const DepthwiseOp* op, const DepthwiseOp* end, int64_t slopes,
                             DepthwiseVector* sums) {
  for (; op != end; ++op) apply_depthwise<kAccuracy>(*op, slopes, sums);
}

/// Operations on the sums of a tile. A limit in front of them does not leave the registers.
struct DepthwiseTail {
  DepthwiseTail(const std::vector<DepthwiseOp>& ops, ElementType dst)
      : is_bfloat16(dst == ElementType::BFloat16),
        rounds(rounds_to_bfloat16()),
        rest(ops.data()),
        end(rest + ops.size()) {
    if (rest == end) return;
    has_relu = rest->kind == DepthwiseOp::Kind::Relu && rest->alpha == 0.0f;
    has_limits = rest->kind == DepthwiseOp::Kind::Clip;
    if (has_limits) {
      low = rest->alpha;
      high = rest->beta;
    }
    if (has_relu || has_limits) ++rest;
  }
  HWY_INLINE void apply(int64_t slopes, DepthwiseVector* sums) const {
    const DepthwiseTag d;
    if (has_limits) {
      const auto least = hn::Set(d, low);
      const auto most = hn::Set(d, high);
      unrolled<kSums>([&](auto i) HET_INLINE_BODY { sums[i] = clamped(sums[i], least, most); });
    } else if (has_relu) {
      const auto zero = hn::Zero(d);
      unrolled<kSums>([&](auto i) HET_INLINE_BODY {
        sums[i] = hn::IfThenZeroElse(hn::Lt(sums[i], zero), sums[i]);
      });
    }
    if (rest == end) return;
    // A copy: the sums themselves need not lie in memory then.
    DepthwiseVector copy[kSums];
    unrolled<kSums>([&](auto i) HET_INLINE_BODY { copy[i] = sums[i]; });
    if (is_bfloat16) {
      apply_rest<Accuracy::BFloat16>(rest, end, slopes, copy);
    } else {
      apply_rest<Accuracy::Float32>(rest, end, slopes, copy);
    }
    unrolled<kSums>([&](auto i) HET_INLINE_BODY { sums[i] = copy[i]; });
  }
  bool is_bfloat16;  ///< what becomes of the sums
  bool rounds;       ///< by itself
  bool has_relu = false;
  bool has_limits = false;
  float low = 0.0f;
  float high = 0.0f;
  const DepthwiseOp* rest;
  const DepthwiseOp* end;
};

/// Where a tile of sums goes, and how much of it exists.
struct DepthwiseTile {
  int64_t y, x;
  int64_t rows, columns;
};

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
