#pragma once

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/passes/fusions/fused_tail.h"
#include "inference/passes/fusions/int8/int8_product.h"

// The single rewrites, each called by the devices that want it, on a prepared model; each leaves
// nodes that it replaced detached, to be removed afterwards. What a device's kernels can do comes
// as a parameter.
namespace het {

/// Float16 and bfloat16 become float32 inside the model; its inputs and outputs keep their types.
Status compute_in_float32(Model& model);

/// QLinearConv and QLinearMatMul become het.Int8Conv and het.Int8MatMul. Those that no
/// int8 kernel runs, and QLinearAdd between such nodes, become float nodes between DequantizeLinear
/// and QuantizeLinear.
Status lower_qlinear(Model& model, const Int8Rules& rules);

/// QLinearConcat becomes a Concat of floats between DequantizeLinear and QuantizeLinear, for
/// devices without such a kernel.
Status lower_qlinear_concat(Model& model);

/// QuantizeLinear whose value is read back by DequantizeLinear with the same scale becomes an
/// element-wise rounding of the float value.
Status fuse_fake_quantisation(Model& model);

/// het.FakeQuantize with constant limits becomes element-wise.
Status lower_fake_quantize(Model& model);

/// DequantizeLinear of a constant becomes the float constant, and so do Reshape and
/// Transpose behind it.
Status fold_dequantized_constants(Model& model);

/// Pad with zeros along spatial dimensions becomes padding of the convolution that reads it, also
/// of bytes whose zero point is 0 with a DequantizeLinear between.
Status fold_padding(Model& model);

/// A convolution over the even and odd rows and columns of a picture of few channels, concatenated
/// as channels, becomes one over the picture with twice the filter and the stride.
Status fold_space_to_depth(Model& model);

/// What scales or shifts every channel of a concatenation, most of which convolutions give to it
/// alone, or is an activation of it, is done to each part instead, where it goes into the
/// convolution.
Status move_before_concat(Model& model);

/// What scales or shifts every channel - BatchNormalization, Mul, Div, Add, Sub with constants -
/// goes into weights and bias of the convolution, matrix product or InstanceNormalization before
/// it.
Status fold_channel_affine(Model& model);

/// The sum or difference of two convolutions of one source becomes one convolution, where the
/// window of one covers the other's. So does that of a convolution and its source behind scale and
/// shift per channel, and of a depthwise convolution and its source. Weights are added where
/// products were: an infinity with weights of two signs stays one where it was NaN.
Status merge_convolutions(Model& model);

/// Where(IsNaN(x), number, x), as exporters write it behind Softmax, becomes element-wise.
Status fuse_nan_guards(Model& model);

/// A BatchNormalization that is left becomes element-wise.
Status lower_batch_norm(Model& model);

/// x * sigmoid(x), x * clip(x + 3, 0, 6) / 6 and x / 2 * (1 + erf(x / sqrt(2))) in their usual
/// spellings become het.Swish, het.HardSwish and Gelu.
Status fuse_gated_activations(Model& model);

/// Rows divided by the root of their mean square or variance in the usual spellings, with or
/// without scale and bias, become RMSNormalization and LayerNormalization.
Status fuse_normalisations(Model& model);

/// InstanceNormalization of rows between two Reshapes, as exporters write it for groups of
/// channels, becomes GroupNormalization of the picture, with scale and bias per channel behind it.
Status fuse_group_norm(Model& model);

/// Attention without past keys, soft cap and windows becomes het.Attention (attention_parts.h).
Status lower_attention(Model& model);

/// MatMul, a factor and masks, Softmax, MatMul become het.Attention, which reads its operands where
/// they lie: in front of Reshape, Transpose, Split, Gather of one index and factors. Several masks
/// must be constant, as those of heads and windows are. Rows of NaN may be zeroed behind Softmax,
/// and a product of columns gets a Transpose.
Status fuse_attention(Model& model);
/// The same for devices that multiply bytes there: queries and keys that are dequantised stay
/// bytes, and weights that are rounded are bytes, with values that are.
Status fuse_byte_attention(Model& model);

/// Reshape, Transpose, Reshape that interleave groups of channels become het.ChannelShuffle.
Status fuse_channel_shuffles(Model& model);
/// The same of quantised values.
Status fuse_byte_shuffles(Model& model);

/// Reshape, Transpose, Reshape and Gather that pick every g-th channel become Slice.
Status fuse_channel_slices(Model& model);

/// Concat, het.ChannelShuffle and Slice of channels become het.ChannelGather, which picks
/// `channels` of its inputs as if they stood behind one another: one for all of them, or one for
/// each Slice.
Status fuse_channel_gathers(Model& model);

/// Activations and the addition of another tensor go into the convolution or matrix product before
/// them: het.Conv, het.ConvTranspose, het.MatMul, het.Gemm with a tail (fused_tail.h). A PRelu with
/// a slope per channel goes into a depthwise convolution.
Status fuse_tails(Model& model, const TailRules& rules);

/// A transposed convolution whose windows lie side by side (as large as its strides, without
/// padding, in one group) becomes a 1x1 convolution with channels for each place of a window, tail
/// included, and DepthToSpace.
Status split_conv_transpose(Model& model);

/// Element-wise nodes that repeat their operands themselves read what is in front of an Expand.
Status drop_expand(Model& model);

/// Element-wise nodes that only feed each other become one het.Elementwise.
Status fuse_elementwise(Model& model);

}  // namespace het
