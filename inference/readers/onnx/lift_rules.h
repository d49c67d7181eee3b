#pragma once

#include "inference/readers/onnx/lift.h"

/// One function per change between opsets; the table in lift.cpp says which operator uses which,
/// and below which opset.
namespace het::onnx {

// lift_axes.cpp: `axes` became an input.
void lift_axes_attribute(LiftContext& context);

// lift_attribute_inputs.cpp: other attributes that became inputs.
void lift_slice(LiftContext& context);
void lift_clip(LiftContext& context);
void lift_pad(LiftContext& context);
void lift_top_k(LiftContext& context);
void lift_split(LiftContext& context);
void lift_dropout(LiftContext& context);
void lift_reshape(LiftContext& context);
void lift_dft(LiftContext& context);

// lift_attributes.cpp: attributes whose default or spelling changed.
void lift_cast(LiftContext& context);
void lift_concat(LiftContext& context);
void lift_grid_sample(LiftContext& context);
void lift_roi_align(LiftContext& context);
void lift_scatter(LiftContext& context);

// lift_broadcast.cpp: `broadcast` and `axis` before NumPy's rules.
void lift_binary_broadcast(LiftContext& context);
void lift_prelu(LiftContext& context);
void lift_gemm(LiftContext& context);

// lift_normalization.cpp
void lift_batch_normalization(LiftContext& context);
void lift_group_normalization(LiftContext& context);

// lift_resize.cpp
void lift_upsample(LiftContext& context);
void lift_resize(LiftContext& context);

// lift_scan.cpp
void lift_scan(LiftContext& context);

// lift_softmax.cpp
void lift_softmax(LiftContext& context);

// lift_experimental.cpp: what ONNX listed as experimental until 1.5.
void lift_affine(LiftContext& context);
void lift_crop(LiftContext& context);
void lift_image_scaler(LiftContext& context);
void lift_parametric_softplus(LiftContext& context);
void lift_scale(LiftContext& context);
void lift_scaled_tanh(LiftContext& context);

// lift_fused.cpp: what ONNX Runtime's optimiser fuses (com.microsoft).
void lift_bias_gelu(LiftContext& context);
void lift_bias_split_gelu(LiftContext& context);
void lift_conv_transpose_with_pads(LiftContext& context);
void lift_embed_layer_normalization(LiftContext& context);
void lift_fused_conv(LiftContext& context);
void lift_fused_gemm(LiftContext& context);
void lift_fused_matmul(LiftContext& context);
void lift_group_norm(LiftContext& context);
void lift_nhwc_max_pool(LiftContext& context);
void lift_quick_gelu(LiftContext& context);
void lift_same_operator(LiftContext& context);
void lift_simplified_layer_normalization(LiftContext& context);
void lift_skip_layer_normalization(LiftContext& context);

// lift_nhwc.cpp: channels last, and others of com.microsoft.
void lift_bias_add(LiftContext& context);
void lift_inverse(LiftContext& context);
void lift_nhwc_conv(LiftContext& context);
void lift_rotary_embedding(LiftContext& context);
void lift_skip_group_norm(LiftContext& context);

// lift_quantized.cpp, lift_matmul_n_bits.cpp and lift_block_quantized.cpp: quantised operators of
// com.microsoft.
void lift_dynamic_quantize_matmul(LiftContext& context);
void lift_gather_block_quantized(LiftContext& context);
void lift_matmul_bnb4(LiftContext& context);
void lift_matmul_integer_to_float(LiftContext& context);
void lift_matmul_n_bits(LiftContext& context);
void lift_qgemm(LiftContext& context);
void lift_qlinear_unary(LiftContext& context);
void lift_qlinear_where(LiftContext& context);

/// A quantised tensor; the zero point may be null.
struct QuantizedOperand {
  Value* values = nullptr;
  Value* scale = nullptr;
  Value* zero_point = nullptr;
};
/// The nodes for the matrix product of two of them, as real numbers.
Value* scaled_product(LiftContext& context, const QuantizedOperand& a, const QuantizedOperand& b);

// lift_attention.cpp: attention of com.microsoft.
void lift_attention_with_weights(LiftContext& context);
void lift_multi_head_attention(LiftContext& context);

// lift_ml.cpp: ai.onnx.ml that is plain arithmetic.
void lift_array_feature_extractor(LiftContext& context);
void lift_binarizer(LiftContext& context);
void lift_imputer(LiftContext& context);
void lift_label_encoder(LiftContext& context);
void lift_linear_regressor(LiftContext& context);
void lift_normalizer(LiftContext& context);
void lift_scaler(LiftContext& context);

}  // namespace het::onnx
