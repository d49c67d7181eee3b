#pragma once

#include <cstddef>
#include <cstdint>

#include "devices/cpu/loops/elementwise_code.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {

/// How a picture lies: in blocks of channels, or with all channels of a pixel side by side.
struct WinogradPicture {
  ElementType type = ElementType::Float32;  ///< or BFloat16; arithmetic is in float32
  bool channels_last = false;
  bool operator==(const WinogradPicture&) const = default;
};

/// Distances in values.
struct WinogradSteps {
  int64_t image, block, row, pixel;
};

/// A convolution of 3x3 with stride 1, computed by Winograd's F(m x m, 3x3):
/// the result is cut into tiles of m x m, each made from (m+2) x (m+2) values of the source with
/// (m+2)^2 products per pair of channels instead of 9 m^2 (Lavin and Gray, arXiv:1509.09308).
/// With stride 2 the source is (2m+1) x (2m+1) values, which are as many products; see
/// strided_winograd_loops.h.
struct WinogradShape {
  int64_t m = 4;       ///< 2, 4 or 6; with stride 2 no 6
  int64_t stride = 1;  ///< or 2, in float32
  int64_t n = 1, ic = 0, ih = 0, iw = 0, oc = 0, oh = 0, ow = 0;
  int64_t pad_top = 0, pad_left = 0;  ///< below and to the right by oh and ow
  int64_t block = 16;                 ///< channels that are transformed together: 8 or 16
  WinogradPicture src, dst;           ///< blocks of `block` channels, where they have blocks
  /// Weights are kept as they are, 9 values, and transformed while they are used: for few tiles,
  /// where reading (m+2)^2 values from memory would take longer than the products.
  bool late_weights = false;

  int64_t alpha() const { return m + 3 - stride; }
  int64_t points() const { return alpha() * alpha(); }
  /// Values of a tile and a channel of the source: the products of a pair of channels.
  int64_t src_values() const { return (stride * (m - 1) + 3) * (stride * (m - 1) + 3); }
  /// Transformed weights of a pair of channels.
  int64_t weight_values() const { return (m + 2) * (m + 2); }
  int64_t ic_blocks() const { return (ic + block - 1) / block; }
  int64_t oc_blocks() const { return (oc + block - 1) / block; }
  int64_t tiles_down() const { return (oh + m - 1) / m; }
  int64_t tiles_across() const { return (ow + m - 1) / m; }
  int64_t tiles() const { return n * tiles_down() * tiles_across(); }

  WinogradSteps src_steps() const { return steps(src, ic, ih, iw); }
  WinogradSteps dst_steps() const { return steps(dst, oc, oh, ow); }

  /// Picture, first row and first column of dst of a tile; tiles of a row are neighbours.
  struct Tile {
    int64_t n, y, x;
  };
  Tile tile(int64_t index) const {
    const int64_t row = index / tiles_across();
    return {row / tiles_down(), row % tiles_down() * m, index % tiles_across() * m};
  }
  /// The next one, without divisions.
  Tile behind(Tile tile) const {
    tile.x += m;
    if (tile.x < ow) return tile;
    tile.x = 0;
    tile.y += m;
    if (tile.y < oh) return tile;
    return {tile.n + 1, 0, 0};
  }

 private:
  WinogradSteps steps(WinogradPicture picture, int64_t channels, int64_t height,
                      int64_t width) const {
    if (picture.channels_last) {
      return {height * width * channels, block, width * channels, channels};
    }
    const int64_t blocks = (channels + block - 1) / block;
    return {blocks * height * width * block, height * width * block, width * block, block};
  }
};

/// What happens to a result behind the bias, before it is stored.
struct WinogradTail {
  const void* sum = nullptr;  ///< added when set: lies as dst does, may be dst
  bool clip = false;
  float low = 0.0f;  ///< with `clip`; low <= 0 <= high, so that padded channels stay 0
  float high = 0.0f;
  const ElementwiseCode* rest = nullptr;  ///< of one operand, behind the others
};

/// Input channels whose late weights are transformed at a time.
inline constexpr int kLateChannels = 16;

/// Output channels that are computed together on this processor: the unit of packed weights and of
/// work that is handed out.
int64_t winograd_group(const WinogradShape& shape);
inline int64_t winograd_groups(const WinogradShape& shape) {
  const int64_t group = winograd_group(shape);
  return (shape.oc_blocks() * shape.block + group - 1) / group;
}

/// Values of packed weights: [groups][weight_values][ic, whole blocks][group], or with late_weights
/// [groups][ic, whole blocks][9][group].
size_t winograd_weights_count(const WinogradShape& shape);
/// The weights [oc,ic,3,3] of one group, as G g G^T in double precision unless they are late.
void pack_winograd_weights(const WinogradShape& shape, const float* weights, int64_t group,
                           float* packed);

/// Values of the transformed source of `tiles` tiles: [ic blocks][src_values][tiles][block].
size_t winograd_src_count(const WinogradShape& shape, int64_t tiles);
/// Values of the products of `tiles` tiles and one group, [points][tiles][group], and of late
/// weights on their way.
size_t winograd_products_count(const WinogradShape& shape, int64_t tiles);

/// B^T d B for `tiles` tiles from `first` on and the blocks [block_begin, block_end) of channels.
void transform_winograd_src(const WinogradShape& shape, const void* src, int64_t first,
                            int64_t tiles, int64_t block_begin, int64_t block_end,
                            float* transformed);

/// The products of a group of output channels with transformed tiles, and A^T M A of them into dst.
/// `bias` has a value for every channel of dst, padding included. Scratch memory and packed weights
/// start at a multiple of 64 bytes.
void multiply_winograd_group(const WinogradShape& shape, const float* transformed, int64_t first,
                             int64_t tiles, const float* packed, const float* bias, int64_t group,
                             const WinogradTail& tail, float* products, void* dst);

}  // namespace het::cpu
