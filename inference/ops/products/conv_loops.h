#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "inference/ops/products/conv.h"

namespace het {

/// The loops of a convolution, for every number type: `load_x(i)` and `load_w(i, oc)` give elements
/// at flat indices as Acc (zero points subtracted), `store(i, oc, sum)` takes the sum of products
/// of output element i. Order: n, oc; then ic, kd, kh, kw outermost and output rows innermost.
template <class Acc, class LoadX, class LoadW, class Store>
void convolve(const ConvAttributes& conv, const Shape& x, const LoadX& load_x, const LoadW& load_w,
              const Store& store) {
  if (element_count(conv.output_shape) == 0) return;
  const Window3 win = window3(conv, std::span(x).subspan(2));
  const int64_t oc_count = conv.output_shape[1];
  const int64_t ic_per_group = x[1] / conv.group;
  const int64_t oc_per_group = oc_count / conv.group;
  // No structured bindings where a lambda needs them: clang 14 cannot capture those.
  const int64_t id = win.in[0];
  const int64_t ih = win.in[1];
  const int64_t iw = win.in[2];
  const int64_t od = win.out[0];
  const int64_t oh = win.out[1];
  const int64_t ow = win.out[2];
  const auto [kd, kh, kw] = win.kernel;
  std::vector<Acc> sums(static_cast<size_t>(win.out_count()));

  const auto add_tap = [&](int64_t plane, Acc weight, int64_t z, int64_t y, int64_t k) {
    // Positions whose input column iw = o * stride + first lies inside the row.
    const int64_t stride = win.strides[2];
    const int64_t first = win.input_at(2, 0, k);
    const int64_t begin = first >= 0 ? 0 : (-first + stride - 1) / stride;
    const int64_t end = first >= iw ? 0 : std::min(ow, (iw - first + stride - 1) / stride);
    for (int64_t d = 0; d < od; ++d) {
      const int64_t in_d = win.input_at(0, d, z);
      if (in_d < 0 || in_d >= id) continue;
      for (int64_t h = 0; h < oh; ++h) {
        const int64_t in_h = win.input_at(1, h, y);
        if (in_h < 0 || in_h >= ih) continue;
        Acc* row = sums.data() + (d * oh + h) * ow;
        const int64_t src = plane + (in_d * ih + in_h) * iw + first;
        for (int64_t o = begin; o < end; ++o) row[o] += weight * load_x(src + o * stride);
      }
    }
  };

  for (int64_t n = 0; n < x[0]; ++n) {
    for (int64_t oc = 0; oc < oc_count; ++oc) {
      std::fill(sums.begin(), sums.end(), Acc(0));
      const int64_t first_ic = oc / oc_per_group * ic_per_group;
      int64_t w_index = oc * ic_per_group * win.kernel_count();
      for (int64_t ic = 0; ic < ic_per_group; ++ic) {
        const int64_t plane = (n * x[1] + first_ic + ic) * win.in_count();
        for (int64_t z = 0; z < kd; ++z) {
          for (int64_t y = 0; y < kh; ++y) {
            for (int64_t k = 0; k < kw; ++k) add_tap(plane, load_w(w_index++, oc), z, y, k);
          }
        }
      }
      const int64_t dst = (n * oc_count + oc) * win.out_count();
      for (size_t i = 0; i < sums.size(); ++i) store(dst + static_cast<int64_t>(i), oc, sums[i]);
    }
  }
}

}  // namespace het
