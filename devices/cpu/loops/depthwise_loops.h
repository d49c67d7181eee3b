#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// A convolution with one filter per channel over pictures in blocks of
/// channels or with the channels last. Sums are taken in float32.
struct DepthwiseShape {
  int64_t n = 1, channels = 0, ih = 0, iw = 0, oh = 0, ow = 0, kh = 0, kw = 0;
  int64_t stride_y = 1, stride_x = 1;
  int64_t dilation_y = 1, dilation_x = 1;  ///< 1 = dense
  int64_t pad_top = 0, pad_left = 0;       ///< below and to the right by oh and ow
  int64_t repeats = 1;                     ///< channels that read the same one of src
  int64_t block = 0;                       ///< channels of a block; 0: channels last
  ElementType src = ElementType::Float32;  ///< Float32 or BFloat16
  ElementType dst = ElementType::Float32;  ///< likewise

  /// Two rows of src at a time are multiplied in bfloat16, where
  /// has_depthwise_pairs(). A NaN or an infinity spoils results in the row
  /// beside those that read it.
  bool multiplies_pairs = false;

  int64_t taps() const { return kh * kw; }
  /// Pairs of rows that two rows of the result without stride read.
  int64_t pairs() const { return kh / 2 + 1; }
};

/// What happens to a sum before it is stored.
struct DepthwiseOp {
  enum class Kind : uint8_t {
    PRelu,
    Relu,
    Clip,
    Linear,
    HardSwish,
    Sigmoid,
    Swish,
    Tanh,
    GeluErf,
    GeluTanh,
  };
  Kind kind = Kind::Clip;
  float alpha = 0.0f;  ///< as in PostOp
  float beta = 0.0f;
  std::vector<float> slopes;  ///< of PRelu, packed as pack_depthwise() does
};

/// Channels that are computed together on this processor. A blocked format
/// needs whole ones in its blocks.
int64_t depthwise_lanes();

/// Values per channel, [channels][values], as the loops read them:
/// [groups][values][lanes]. Padded channels become 0; of channels last, the
/// last group may begin in the one before.
std::vector<float> pack_depthwise(const DepthwiseShape& shape, const float* values, int64_t count);

/// Whether the processor multiplies pairs for this shape, and is faster then.
bool has_depthwise_pairs(const DepthwiseShape& shape);
/// Weights in bfloat16 for `multiplies_pairs`:
/// [groups][2][pairs][kw][lanes][2]; of the two parts one begins with row 0 of
/// the filter, the other with zeros in front of it.
std::vector<float> pack_depthwise_pairs(const DepthwiseShape& shape, const float* values);

/// Units of work: some rows of the result, in one group of channels of blocked
/// formats.
int64_t depthwise_units(const DepthwiseShape& shape);

/// What a thread needs, in floats.
int64_t depthwise_scratch_floats(const DepthwiseShape& shape);

/// dst = ops(conv(src, weights) + bias) for the units [begin, end). `weights`
/// and `bias` are packed; dst must not overlap src.
void run_depthwise(const DepthwiseShape& shape, const std::byte* src, const float* weights,
                   const float* bias, const std::vector<DepthwiseOp>& ops, int64_t begin,
                   int64_t end, float* scratch, std::byte* dst);

}  // namespace het::cpu
