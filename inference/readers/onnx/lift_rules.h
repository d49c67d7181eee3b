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
void lift_scan(LiftContext& context);
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

// lift_softmax.cpp
void lift_softmax(LiftContext& context);

}  // namespace het::onnx
