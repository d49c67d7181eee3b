#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "devices/cpu/formats/post_op.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {

/// A convolution of bytes over pictures with the channels last. A product of matrices is one over
/// a picture with a pixel for each row.
struct Int8Shape {
  int64_t n = 1, groups = 1, ic = 0, oc = 0;  ///< channels of one group
  /// Groups of the convolution that are one here, so that their channels fill a panel: ic and oc
  /// are those of all of them, which do not meet.
  int64_t packed_groups = 1;
  bool depthwise = false;  ///< groups 1, ic == oc: channels do not meet
  int64_t ih = 0, iw = 1, oh = 0, ow = 1, kh = 1, kw = 1;
  int64_t stride_y = 1, stride_x = 1;
  int64_t dilation_y = 1, dilation_x = 1;  ///< 1 = dense
  int64_t pad_top = 0, pad_left = 0;  ///< below and to the right by oh and ow; below 0 it crops
  /// Where the results lie that are a part of larger pictures; 0 rows: they are all.
  int64_t dst_rows = 0, dst_columns = 0, dst_y = 0, dst_x = 0;
  ElementType src = ElementType::UInt8;  ///< or Int8
  ElementType dst = ElementType::UInt8;  ///< or Int8 or Float32; Int32 for the sums alone
  int32_t src_zero = 0;
  int32_t weights_zero = 0;

  /// The pixel of all pictures of the result that (y, x) of picture i is.
  int64_t dst_pixel(int64_t i, int64_t y, int64_t x) const {
    if (dst_rows == 0) return (i * oh + y) * ow + x;
    return (i * dst_rows + dst_y + y) * dst_columns + dst_x + x;
  }
  /// Products of a sum.
  int64_t depth() const { return (depthwise ? 1 : ic / packed_groups) * kh * kw; }
};

/// y = ops(scale * sum + bias), or with factors factor * ops(...) + zero, before it is rounded to
/// bytes. Arrays lie as pack_widened_channels() has them.
struct Int8Tail {
  const float* scales = nullptr;
  const float* bias = nullptr;
  const std::vector<PostOp>* ops = nullptr;  ///< see is_int8_tail_op()
  const std::byte* addend = nullptr;         ///< of a Sum; like dst, which it may be
  const float* factors = nullptr;            ///< may be absent, as zeros
  const float* zeros = nullptr;
};

inline bool is_int8_tail_op(PostOp::Kind kind) {
  switch (kind) {
    case PostOp::Kind::Sum:
    case PostOp::Kind::Relu:
    case PostOp::Kind::Clip:
    case PostOp::Kind::Linear:
    case PostOp::Kind::Sigmoid:
    case PostOp::Kind::Tanh:
    case PostOp::Kind::Swish:
    case PostOp::Kind::HardSwish:
    case PostOp::Kind::GeluErf:
    case PostOp::Kind::GeluTanh:
    case PostOp::Kind::Round:
      return true;
    default:
      return false;
  }
}

/// Where the plain weight of output channel o (of all groups), input channel i (0 in a depthwise
/// one) and tap t lies: at o * oc_stride + i * ic_stride + t.
struct WeightStrides {
  int64_t oc_stride, ic_stride;
};

/// Rows of the result that are computed from one gathered part of the source.
struct Int8Strip {
  int64_t n = 0;
  int64_t group = 0;
  int64_t first_row = 0;
  int64_t rows = 0;
};

/// How the gathered source of a strip lies, and the runs of neighbouring values that weights are
/// for.
struct Int8Geometry {
  explicit Int8Geometry(const Int8Shape& s)
      : keeps_columns(s.kw > 1),
        keeps_rows(s.kh > 1),
        across(keeps_columns ? (s.ow - 1) * s.stride_x + (s.kw - 1) * s.dilation_x + 1 : s.ow),
        dense(s.dilation_x == 1 && !s.depthwise && s.packed_groups == 1),
        runs(dense ? s.kh : s.kh * s.kw),
        length(dense ? s.kw * s.ic : s.ic / s.packed_groups),
        pairs((length + 1) / 2),
        tap_pairs((s.kh * s.kw + 1) / 2) {}

  /// Rows of the source that are kept for `rows` of the result. With one tap only those it meets.
  int64_t down(const Int8Shape& s, int64_t rows) const {
    return keeps_rows ? (rows - 1) * s.stride_y + (s.kh - 1) * s.dilation_y + 1 : rows;
  }
  int64_t pixel(const Int8Shape& s, int64_t y, int64_t x) const {
    const int64_t row = keeps_rows ? y * s.stride_y : y;
    const int64_t column = keeps_columns ? x * s.stride_x : x;
    return (row * across + column) * s.ic;
  }
  int64_t run(const Int8Shape& s, int64_t r) const {
    if (dense) return r * s.dilation_y * across * s.ic;
    return (r / s.kw * s.dilation_y * across + r % s.kw * s.dilation_x) * s.ic;
  }

  bool keeps_columns, keeps_rows;
  int64_t across;  ///< pixels of a gathered row
  bool dense;      ///< a row of taps is one run
  int64_t runs, length, pairs;
  int64_t tap_pairs;  ///< of a depthwise convolution
};

/// Where the source of a strip lies as it would be gathered: all neighbouring values of whole rows.
/// Null where it does not.
template <class T>
const T* whole_strip(const Int8Shape& s, const Int8Strip& strip, const T* src) {
  const Int8Geometry geometry(s);
  const int64_t first_y = strip.first_row * s.stride_y - s.pad_top;
  const bool keeps_all = (geometry.keeps_columns || s.stride_x == 1) &&
                         (geometry.keeps_rows || s.stride_y == 1) && s.groups == 1;
  const bool is_inside = s.pad_left == 0 && geometry.across == s.iw && first_y >= 0 &&
                         first_y + geometry.down(s, strip.rows) <= s.ih;
  return keeps_all && is_inside ? src + (strip.n * s.ih + first_y) * s.iw * s.ic : nullptr;
}

/// How gather_strip() fills what is no value of the source.
template <class Value>
struct GatherFill {
  Value padding;         ///< where the picture ends
  int64_t slack;         ///< values of it behind the last row
  int64_t channels = 0;  ///< of a gathered pixel where they are more than the source has; else 0
};

/// Gathers what the windows of a strip meet, as Int8Geometry says. copy(from, count, to) takes
/// neighbouring values, and fills up the channels of a pixel.
template <class T, class Value, class Copy>
void gather_strip(const Int8Shape& s, const Int8Strip& strip, const T* src,
                  const GatherFill<Value>& fill, Value* to, const Copy& copy) {
  const Int8Geometry geometry(s);
  const int64_t ic = std::max(s.ic, fill.channels);
  const int64_t channels = s.groups * s.ic;
  const int64_t step_y = geometry.keeps_rows ? 1 : s.stride_y;
  const int64_t step_x = geometry.keeps_columns ? 1 : s.stride_x;
  const int64_t first_y = strip.first_row * s.stride_y - s.pad_top;
  // The gathered columns that are not padding.
  const auto steps = [&](int64_t pixels) {
    return std::clamp<int64_t>((pixels + step_x - 1) / step_x, 0, geometry.across);
  };
  const int64_t left = steps(std::max<int64_t>(s.pad_left, 0));
  const int64_t right = std::max(steps(s.iw + s.pad_left), left);
  const int64_t down = geometry.down(s, strip.rows);
  if (const T* const whole = whole_strip(s, strip, src); whole != nullptr && ic == s.ic) {
    copy(whole, down * geometry.across * ic, to);
    std::fill_n(to + geometry.across * down * ic, fill.slack, fill.padding);
    return;
  }
  for (int64_t k = 0; k < down; ++k) {
    const int64_t y = first_y + k * step_y;
    Value* const row = to + k * geometry.across * ic;
    if (y < 0 || y >= s.ih) {
      std::fill_n(row, geometry.across * ic, fill.padding);
      continue;
    }
    std::fill_n(row, left * ic, fill.padding);
    const T* from = src + ((strip.n * s.ih + y) * s.iw + left * step_x - s.pad_left) * channels +
                    strip.group * s.ic;
    if (s.groups == 1 && step_x == 1 && ic == s.ic) {
      copy(from, (right - left) * ic, row + left * ic);
    } else {
      for (int64_t x = left; x < right; ++x, from += step_x * channels) {
        copy(from, s.ic, row + x * ic);
      }
    }
    std::fill(row + right * ic, row + geometry.across * ic, fill.padding);
  }
  std::fill_n(to + geometry.across * down * ic, fill.slack, fill.padding);
}

}  // namespace het::cpu
