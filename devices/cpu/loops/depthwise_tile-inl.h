// The register tile of depthwise convolutions: its vectors in memory, and what
// happens to its sums. Included by depthwise_loops.cpp after hwy/highway.h,
// once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
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

/// body(0) ... body(kCount - 1) with constants. Vectors of an array stay in
/// registers for certain only where all indices are constants before loops are
/// unrolled.
template <class Body, int... kIndices>
HWY_INLINE void for_each_index(const Body& body, std::integer_sequence<int, kIndices...>) {
  (body(std::integral_constant<int, kIndices>()), ...);
}
template <int kCount, class Body>
HWY_INLINE void unrolled(const Body& body) {
  for_each_index(body, std::make_integer_sequence<int, kCount>());
}

/// The same as store_channels() by one instruction, where the processor has it.
/// Numbers below the smallest normal one become 0.
HWY_INLINE void store_rounded(DepthwiseVector value, uint16_t* to) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // Highway 1.0 has it not, and compilers only in functions that are made for
  // such processors.
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

/// Operations on the sums of a tile. A limit in front of them does not leave
/// the registers.
struct DepthwiseTail {
  DepthwiseTail(const std::vector<DepthwiseOp>& ops, ElementType dst)
      : is_bfloat16(dst == ElementType::BFloat16),
        rounds(has_bfloat16_instructions()),
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

/// One group of channels of one picture.
template <class T>
struct DepthwiseGroup {
  const T* padding;  ///< a pixel of it
  const T* src;
  int64_t src_row, src_pixel;
  const float* weights;
  const float* bias;
  const std::vector<DepthwiseOp>* ops;
  int64_t slopes;  ///< where those of the group begin
  std::byte* dst;
  int64_t dst_row, dst_pixel;  ///< in elements
  int64_t lanes;               ///< channels that exist, fewer than kChannels only with
                               ///< channels last
};

/// Operations and stores of the sums of a tile; kAll when all of its columns
/// exist.
template <bool kAll, class T>
HWY_INLINE void finish_depthwise(const DepthwiseShape& shape, const DepthwiseGroup<T>& group,
                                 const DepthwiseTail& tail, const DepthwiseTile& tile,
                                 DepthwiseVector* sums) {
  tail.apply(group.slopes, sums);
  const int64_t first = tile.y * group.dst_row + tile.x * group.dst_pixel;
  const auto store_all = [&](auto* dst, const auto& store) HET_INLINE_BODY {
    unrolled<kSumRows>([&](auto r) HET_INLINE_BODY {
      if (r > 0 && r >= tile.rows) return;
      auto* to = dst + first + r * group.dst_row;
      const int64_t pixel = group.dst_pixel;
      unrolled<kSumColumns>([&](auto t) HET_INLINE_BODY {
        if (!kAll && t > 0 && t >= tile.columns) return;
        store(sums[r * kSumColumns + t], to);
        to += pixel;
      });
    });
  };
  const auto store_first = [&](DepthwiseVector v, auto* to) HWY_ATTR {
    store_first_channels(DepthwiseTag(), v, to, group.lanes);
  };
  if (shape.dst == ElementType::BFloat16) {
    auto* const dst = reinterpret_cast<uint16_t*>(group.dst);
    if (group.lanes < kChannels) return store_all(dst, store_first);
    if (tail.rounds) return store_all(dst, store_rounded);
    store_all(dst, [](DepthwiseVector v, uint16_t* to)
                       HWY_ATTR { store_channels(DepthwiseTag(), v, to); });
  } else {
    auto* const dst = reinterpret_cast<float*>(group.dst);
    if (group.lanes < kChannels) return store_all(dst, store_first);
    store_all(dst,
              [](DepthwiseVector v, float* to) HWY_ATTR { hn::StoreU(v, DepthwiseTag(), to); });
  }
}

HWY_INLINE void start_sums(const float* from, DepthwiseVector* sums) {
  const auto bias = hn::LoadU(DepthwiseTag(), from);
  unrolled<kSums>([&](auto i) HET_INLINE_BODY { sums[i] = bias; });
}

/// How the rows of a filter of kWidth columns without dilation are summed:
/// kHeight of them with as large a step down, or any number where that is 0.
template <int kFilterHeight, int kFilterWidth, int kStep>
struct RowFilter {
  static constexpr int kHeight = kFilterHeight;
  static constexpr int kWidth = kFilterWidth;
  static constexpr int kStride = kStep;
  static constexpr int kColumns = (kSumColumns - 1) * kStride + kWidth;  ///< of src
};

/// Where columns of src may be missing: nowhere, as many as half of the filter
/// at both ends, or anywhere.
enum class Edge : uint8_t { None, Near, Any };

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
