#pragma once

#include "devices/cpu/onednn/onednn.h"

namespace het::cpu {

/// Sizes of pictures and filters, steps and borders of a convolution over pictures that is not
/// transposed, as the shapes of our own loops name them.
template <class Shape>
void set_window(const ConvolutionSpec& spec, Shape& shape) {
  shape.n = spec.src.shape[0];
  shape.ih = spec.src.shape[2];
  shape.iw = spec.src.shape[3];
  shape.oh = spec.dst.shape[2];
  shape.ow = spec.dst.shape[3];
  shape.kh = spec.weights[2];
  shape.kw = spec.weights[3];
  shape.stride_y = spec.strides[0];
  shape.stride_x = spec.strides[1];
  shape.dilation_y = spec.dilations[0];
  shape.dilation_x = spec.dilations[1];
  shape.pad_top = spec.pads_begin[0];
  shape.pad_left = spec.pads_begin[1];
}

}  // namespace het::cpu
