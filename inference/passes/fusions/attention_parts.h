#pragma once

#include <optional>
#include <vector>

#include "inference/model/model.h"
#include "inference/passes/fusions/strided_view.h"

namespace het {

/// Bytes that stand for (byte - zero) * scale; floats where the scale is 0.
struct AttentionSteps {
  float scale = 0.0f;
  int32_t zero = 0;
};

/// softmax(query * key * factor + mask) * value over matrices, the last two dimensions of each
/// view.
struct AttentionParts {
  Shape scores;                           ///< [batch..., queries, keys]
  StridedView query;                      ///< [batch..., queries, depth]
  StridedView key;                        ///< [batch..., depth, keys]
  StridedView value;                      ///< [batch..., keys, columns]
  AttentionSteps query_steps, key_steps;  ///< both bytes or both floats
  AttentionSteps value_steps;             ///< bytes only where weights are rounded
  AttentionSteps weights_steps;           ///< of unsigned bytes that weights are rounded to
  Value* mask = nullptr;
  Shape mask_strides;  ///< along the scores; empty without a mask
  float factor = 1.0f;
  /// A query without any key (a mask of -infinity) gives zeros, not NaN.
  bool zero_without_keys = false;
  /// So does one whose weights are NaN for any reason.
  bool zero_for_nan = false;
  Shape output_strides;  ///< along [batch..., queries, columns]
};

/// The inputs and attributes of het.Attention: shape of the scores, depth, columns, NAME_offset and
/// NAME_strides of query, key and value, mask_strides, output_strides, factor, value_factor,
/// zero_without_keys, and zero_for_nan where that is so; NAME_zero of operands that are bytes,
/// whose scales are in the factors, and weights_scale and weights_zero of weights that are rounded.
std::vector<Value*> attention_inputs(const AttentionParts& parts);
Attributes attention_attributes(const AttentionParts& parts);

/// Strides of a float32 mask along the scores, 0 where it is repeated; nothing for what is no such
/// mask.
std::optional<Shape> attention_mask_strides(const Value& mask, const Shape& scores);

}  // namespace het
