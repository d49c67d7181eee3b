#pragma once

#include <cstdint>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/ops/op.h"
#include "inference/ops/windows/window.h"
#include "inference/tensors/shape.h"

namespace het {

/// Conv, ConvInteger and QLinearConv with auto_pad resolved and everything checked.
struct ConvAttributes : Window {
  int64_t group = 1;
  Shape output_shape;  ///< [n, oc, spatial...]
};

/// `x` is [n, ic, spatial...], `w` is [oc, ic / group, kernel...], both static. Fails on ranks
/// below 3 or above 5, on channels that do not fit the groups, and on what resolve_window()
/// refuses.
Result<ConvAttributes> conv_attributes(const Node& node, const Shape& x, const Shape& w);

/// Input `index`, a convolution's bias B, has one value per output channel or is absent.
Status check_bias(const InferContext& context, size_t index, int64_t channels);

/// x and w have the same rank, 3 to 5, of which one to three dimensions are spatial.
Status check_conv_ranks(const Shape& x, const Shape& w);

/// The spatial dimensions of w, which kernel_shape has to equal where it is given.
Result<std::vector<int64_t>> conv_kernel(const Attributes& attributes, const Shape& w);

/// X, W and the optional B of a convolution are floats of one type.
Status check_conv_inputs(const InferContext& context);

/// Y of this shape, [batch, channels, ...], in the type of X; checks B (input 2).
Status set_conv_output(InferContext& context, Shape shape);

}  // namespace het
