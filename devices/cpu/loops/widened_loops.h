#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "devices/cpu/formats/post_op.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {

/// A convolution of bytes over pictures with the channels last. Its operands are widened to 16 bits
/// less their zero points, so pairs of products are exact without VNNI. A product of
/// matrices is one over a picture with a pixel for each row.
struct WidenedShape {
  int64_t n = 1, groups = 1, ic = 0, oc = 0;  ///< channels of one group
  bool depthwise = false;                     ///< groups 1, ic == oc: channels do not meet
  int64_t ih = 0, iw = 1, oh = 0, ow = 1, kh = 1, kw = 1;
  int64_t stride_y = 1, stride_x = 1;
  int64_t dilation_y = 1, dilation_x = 1;  ///< 1 = dense
  int64_t pad_top = 0, pad_left = 0;       ///< below and to the right by oh and ow
  ElementType src = ElementType::UInt8;    ///< or Int8
  ElementType dst = ElementType::UInt8;    ///< or Int8 or Float32; Int32 for the sums alone
  int32_t src_zero = 0;
  int32_t weights_zero = 0;

  /// Products of a sum.
  int64_t depth() const { return (depthwise ? 1 : ic) * kh * kw; }
};

/// y = ops(scale * sum + bias), before it is rounded to bytes. Arrays lie as
/// pack_widened_channels() has them.
struct WidenedTail {
  const float* scales = nullptr;
  const float* bias = nullptr;
  const std::vector<PostOp>* ops = nullptr;  ///< see is_widened_op()
  const std::byte* addend = nullptr;         ///< of a Sum; like dst, which it may be
};
bool is_widened_op(PostOp::Kind kind);

/// True where the processor multiplies and adds pairs in one instruction, on vectors that are wide
/// enough to be faster than float32.
bool has_fast_pairs();

/// Output channels of a panel on this processor.
int64_t widened_columns();
/// Panels of all groups.
int64_t widened_panels(const WidenedShape& shape);
/// Bytes of a packed panel, and values that it has when it is widened.
int64_t widened_panel_count(const WidenedShape& shape);

/// Where the plain weight of output channel o (of all groups), input channel i (0 in a depthwise
/// one) and tap t lies: at o * oc_stride + i * ic_stride + t.
struct WeightStrides {
  int64_t oc_stride, ic_stride;
};
/// Packs panels [begin, end).
void pack_widened_weights(const WidenedShape& shape, const int8_t* weights,
                          const WeightStrides& strides, int64_t begin, int64_t end, int8_t* packed);

/// A value per output channel (of all groups), such as its scale, as the loops read them:
/// widened_columns() for each panel.
void pack_widened_channels(const WidenedShape& shape, const float* values, float* packed);

/// Rows of the result that are computed from one widened part of the source.
struct WidenedStrip {
  int64_t n = 0;
  int64_t group = 0;
  int64_t first_row = 0;
  int64_t rows = 0;
};
/// Where the pixels of a strip begin in its widened source, and how far each run of neighbouring
/// values (of a depthwise convolution: each tap) lies behind that. For strips of up to `rows` rows.
struct WidenedOffsets {
  std::vector<int32_t> pixels;
  std::vector<int32_t> runs;
};
WidenedOffsets widened_offsets(const WidenedShape& shape, int64_t rows);

/// Values of the widened source of so many rows.
int64_t widened_src_count(const WidenedShape& shape, int64_t rows);
void widen_src(const WidenedShape& shape, const WidenedStrip& strip, const std::byte* src,
               int16_t* widened);

/// The results of the strip in panels [begin, end) of its group. `panels` are the packed
/// ones of that group, `weights` memory for one widened panel.
void multiply_widened(const WidenedShape& shape, const WidenedOffsets& offsets,
                      const WidenedStrip& strip, const int16_t* widened, const int8_t* panels,
                      int64_t begin, int64_t end, const WidenedTail& tail, int16_t* weights,
                      std::byte* dst);

}  // namespace het::cpu
