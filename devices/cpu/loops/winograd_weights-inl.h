// The weights of Winograd's algorithms, packed: G g G^T, or as they are where they are transformed
// late. Included after hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "devices/cpu/loops/winograd_loops.h"
#include "devices/cpu/loops/winograd_products-inl.h"

#if defined(HET_WINOGRAD_WEIGHTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_WINOGRAD_WEIGHTS_INL_H
#undef HET_WINOGRAD_WEIGHTS_INL_H
#else
#define HET_WINOGRAD_WEIGHTS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One dimension of G g: three rows of kCount values become Points::kRows.
template <class Points, int kCount>
HWY_INLINE void transform_weights_line(const double (*in)[kCount], int64_t in_step,
                                       double (*out)[kCount], int64_t out_step) {
#pragma GCC unroll 8
  for (int i = 0; i < Points::kRows; ++i) {
    constexpr int kTaps = 3;
    const double w[kTaps] = {Points::weight(i, 0), Points::weight(i, 1), Points::weight(i, 2)};
    for (int lane = 0; lane < kCount; ++lane) {
      out[i * out_step][lane] =
          w[0] * in[0][lane] + w[1] * in[in_step][lane] + w[2] * in[2 * in_step][lane];
    }
  }
}

/// All output channels of a group side by side, one input channel after the other.
template <class Points, int kBlock>
void pack_weights(const WinogradShape& shape, const float* weights, int64_t group, float* packed) {
  constexpr int kRows = Points::kRows;
  constexpr int kCount = kGroup<kBlock>;
  const int64_t ic = shape.ic_blocks() * kBlock;
  const int64_t first = group * kCount;
  const int64_t count = std::min<int64_t>(kCount, shape.oc - first);
  float* to = packed + group * (shape.late_weights ? 9 : shape.weight_values()) * ic * kCount;
  double kernel[9][kCount] = {};
  double rows[3 * kRows][kCount];
  double points[kRows * kRows][kCount];
  if (shape.late_weights) {
    std::fill_n(to, 9 * ic * kCount, 0.0f);
    for (int64_t k = 0; k < shape.ic; ++k) {
      for (int64_t i = 0; i < count; ++i) {
        const float* from = weights + ((first + i) * shape.ic + k) * 9;
        for (int tap = 0; tap < 9; ++tap) to[(k * 9 + tap) * kCount + i] = from[tap];
      }
    }
    return;
  }
  for (int64_t k = 0; k < ic; ++k, to += kCount) {
    if (k >= shape.ic) {
      for (int64_t point = 0; point < shape.weight_values(); ++point) {
        std::fill_n(to + point * ic * kCount, kCount, 0.0f);
      }
      continue;
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int tap = 0; tap < 9; ++tap) {
        kernel[tap][i] = static_cast<double>(weights[((first + i) * shape.ic + k) * 9 + tap]);
      }
    }
    for (int x = 0; x < 3; ++x) transform_weights_line<Points, kCount>(kernel + x, 3, rows + x, 3);
    for (int y = 0; y < kRows; ++y) {
      transform_weights_line<Points, kCount>(rows + y * 3, 1, points + y * kRows, 1);
    }
    for (int64_t point = 0; point < shape.weight_values(); ++point) {
      for (int i = 0; i < kCount; ++i) {
        to[point * ic * kCount + i] = static_cast<float>(points[point][i]);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
