#pragma once

#include <optional>
#include <vector>

#include "inference/model/model.h"
#include "inference/passes/fusions/strided_view.h"

namespace het {

/// softmax(query * key * factor + mask) * value over matrices, the last two dimensions of each
/// view.
struct AttentionParts {
  Shape scores;       ///< [batch..., queries, keys]
  StridedView query;  ///< [batch..., queries, depth]
  StridedView key;    ///< [batch..., depth, keys]
  StridedView value;  ///< [batch..., keys, columns]
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
/// zero_without_keys, and zero_for_nan where that is so.
std::vector<Value*> attention_inputs(const AttentionParts& parts);
Attributes attention_attributes(const AttentionParts& parts);

/// Strides of a float32 mask along the scores, 0 where it is repeated; nothing for what is no such
/// mask.
std::optional<Shape> attention_mask_strides(const Value& mask, const Shape& scores);

}  // namespace het
