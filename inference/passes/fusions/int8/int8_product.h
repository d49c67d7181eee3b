#pragma once

#include <cstdint>
#include <vector>

#include "inference/model/model.h"
#include "inference/passes/fusions/fused_tail.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {

/// het.Int8Conv and het.Int8MatMul, whatever quantised operators they came from. Inputs: x (bytes),
/// w (int8; [OC,IC/group,kernel...] or [K,N]), bias (float32 or int32, in units of
/// the sums; may be omitted), addend (may be omitted), scales (one, or one per output channel).
/// With the attributes of Conv and those below:
///   y = tail(scale * (sum of (x - src_zero) * (w - weights_zero) + bias))
/// stored as it is in float32, or as round(y / dst_scale) + dst_zero in bytes, with one scale and
/// zero point or one per channel (of a matrix product: per column). The source may have a zero
/// point per channel in depthwise convolutions. A Sum in the tail adds the addend: a float where y
/// stays float, else sum_scale
/// * (addend - sum_zero) with an addend of y's type. A Round in the tail rounds to multiples of its
/// alpha, which is 1 for whole numbers.
struct Int8Product {
  int32_t src_zero = 0;
  std::vector<int32_t> src_zeros;  ///< of channels, where they differ
  int32_t weights_zero = 0;        ///< other than 0 in matrix products and is_pixelwise() ones only
  std::vector<float> dst_scales = {1.0f};
  int32_t dst_zero = 0;
  std::vector<int32_t> dst_zeros;  ///< of channels, where they differ
  float sum_scale = 1.0f;
  int32_t sum_zero = 0;
  FusedTail tail;
};

inline constexpr size_t kInt8ScalesInput = 4;

bool is_int8_product(const Node& node);
/// True for one whose result is float still and to which nothing is added: more can go into it.
bool is_unfinished_product(const Node& node);
/// A convolution whose window reaches beyond the picture.
bool is_padded(const Node& node);
/// A convolution that is a matrix product of every pixel's channels.
bool is_pixelwise(const Node& node);
Int8Product int8_product_of(const Node& node);
void set_int8_product(Attributes& attributes, const Int8Product& product);
/// Scales and zero points of the result.
void set_steps(Int8Product& product, const StoredValue& stored);

/// What a device's kernels of these products run.
struct Int8Rules {
  /// Whether a kernel runs a product, with its tail and the type of its result; null: there is none
  /// for any.
  bool (*can_run)(const Node& product) = nullptr;
  /// Convolutions of one input channel a group with several filters read a picture whose channels
  /// are repeated, one for each filter (het.ChannelGather): there are no kernels for them.
  bool repeats_channels = false;
};

/// Replaces nodes by a product when the device can run it; else returns null, and nothing has
/// changed.
Node* replace_by_product(Model& model, const Int8Rules& rules, Replacement replacement);

}  // namespace het
