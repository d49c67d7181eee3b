#pragma once

#include <optional>

#include "devices/cpu/fused_tail.h"
#include "devices/cpu/onednn.h"
#include "inference/model.h"

namespace het::cpu {

/// het.Int8Conv and het.Int8MatMul, whatever quantised operators they came from. Inputs: x (bytes),
/// w (int8; [OC,IC/group,kernel...] or [K,N]), bias (float32 or int32, in units of
/// the sums; may be omitted), addend (may be omitted), scales (one, or one per output channel).
/// With the attributes of Conv and those below:
///   y = tail(scale * (sum of (x - src_zero) * (w - weights_zero) + bias))
/// stored as it is in float32, or as round(y / dst_scale) + dst_zero in bytes, with one scale or
/// one per channel. A Sum in the tail adds the addend: a float where y stays float, else sum_scale
/// * (addend - sum_zero) with an addend of y's type. A Round in the tail rounds to multiples of its
/// alpha.
struct Int8Product {
  int32_t src_zero = 0;
  int32_t weights_zero = 0;  ///< other than 0 in matrix products and is_pixelwise() ones only
  std::vector<float> dst_scales = {1.0f};
  int32_t dst_zero = 0;
  float sum_scale = 1.0f;
  int32_t sum_zero = 0;
  FusedTail tail;
};

inline constexpr size_t kInt8ScalesInput = 4;

bool is_int8_product(const Node& node);
/// True for one whose result is float still and to which nothing is added: more can go into it.
bool is_unfinished_product(const Node& node);
/// A convolution that is a matrix product of every pixel's channels.
bool is_pixelwise(const Node& node);
Int8Product int8_product_of(const Node& node);
void set_int8_product(Attributes& attributes, const Int8Product& product);

/// The same for oneDNN. Offsets (zero points, where no padding has to know them) are left out of
/// `quantisation`: they are added to the bias, which its faster kernels take.
struct Int8Arithmetic {
  Quantisation quantisation;
  std::vector<PostOp> post_ops;
  float offset = 0.0f;      ///< to add to each result before the post-ops
  int32_t compensated = 0;  ///< zero point of x that the bias stands for
  bool has_bias = false;
};
/// Fails with NotSupported when the tail would take one kind of post-op twice.
Result<Int8Arithmetic> int8_arithmetic(const Node& node);
/// The bias with all offsets, per output channel, in units of the sums.
Result<std::vector<double>> int8_bias_in_sums(const Node& node, const Int8Arithmetic& arithmetic);
/// The same as oneDNN takes it.
Result<Tensor> int8_bias(const Node& node, const Int8Arithmetic& arithmetic);

/// Everything but the bias. A convolution along one dimension becomes one over pictures of height
/// 1. For one with a zero point of weights see int8_matmul_spec().
Result<ConvolutionSpec> int8_convolution_spec(const Node& node, const Int8Arithmetic& arithmetic);
/// A product of matrices or a pixelwise one, the latter over channels-last tensors.
Result<MatMulSpec> int8_matmul_spec(const Node& node, const Int8Arithmetic& arithmetic);

/// True when there is a kernel whose sums are exact: generated code of oneDNN, not only its
/// reference, or without VNNI the one of widened_product.h.
bool has_int8_kernel(const Node& node);

}  // namespace het::cpu
