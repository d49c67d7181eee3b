#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace het::cpu {

/// A convolution of 1x1 over float32 pictures whose channels lie in blocks of as many as a vector
/// has: dst[pixels,oc] = src[pixels,ic] * weights[ic,oc]. Columns of the weights lie in panels of
/// two vectors, one behind the other in memory; while pixels are multiplied with one panel, the
/// next one is fetched. Deep sums are cut into slices, whose panels and pixels stay in the caches.
struct PointwiseShape {
  int64_t n = 1, pixels = 0, ic = 0, oc = 0;
  int64_t block = 16;

  static constexpr int64_t kMostDepth = 1024;
  int64_t ic_blocks() const { return (ic + block - 1) / block; }
  int64_t oc_blocks() const { return (oc + block - 1) / block; }
  int64_t panels() const { return (oc_blocks() + 1) / 2; }
  int64_t slices() const { return (ic + kMostDepth - 1) / kMostDepth; }
  /// First channel of a slice, which begins with a block.
  int64_t first_of(int64_t slice) const {
    return std::min(ic_blocks() * slice / slices() * block, ic);
  }
};

/// Pixels of one picture and panels of output channels.
struct PointwisePart {
  int64_t pixels_begin = 0, pixels_end = 0;
  int64_t panels_begin = 0, panels_end = 0;
};

/// What happens to a result behind the bias: `sum`, which lies as dst does and may be dst, is added
/// unless it is null; then it is kept within the limits.
struct PointwiseTail {
  const float* sum = nullptr;
  bool clip = false;
  float low = 0.0f, high = 0.0f;
};

/// Channels of a block of this processor, and pixels that are multiplied at a time.
int64_t pointwise_block();
int64_t pointwise_rows();

/// Values of packed weights, and of a bias for whole panels.
inline size_t pointwise_weights_count(const PointwiseShape& shape) {
  return static_cast<size_t>(shape.panels() * 2 * shape.block * shape.ic);
}
inline size_t pointwise_bias_count(const PointwiseShape& shape) {
  return static_cast<size_t>(shape.panels() * 2 * shape.block);
}

/// The weights [oc,ic] as panels [begin, end) of `packed`, which begins with a cache line.
void pack_pointwise_panels(const PointwiseShape& shape, const float* weights, int64_t begin,
                           int64_t end, float* packed);

/// A part of dst, of one picture. Channels of dst that fill up its last block become 0; those of
/// src are not read.
void multiply_pointwise(const PointwiseShape& shape, const PointwisePart& part, const float* src,
                        const float* packed, const float* bias, const PointwiseTail& tail,
                        float* dst);

}  // namespace het::cpu
