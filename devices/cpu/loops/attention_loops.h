#pragma once

#include <cstddef>
#include <cstdint>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// softmax(query * key * factor + mask) * value of one matrix of each, block by block of rows. Keys
/// and values are packed first, as panels of two vectors of columns.
struct AttentionShape {
  int64_t depth = 0;    ///< of queries and keys
  int64_t keys = 0;     ///< at least 1
  int64_t columns = 0;  ///< of values and the result
  float factor = 1.0f;
  float value_factor = 1.0f;       ///< the result is multiplied by it
  bool zero_without_keys = false;  ///< what a mask of -infinity for all keys gives; else NaN
  bool zero_for_nan = false;       ///< weights that would be NaN for any reason are 0
  /// Of queries and keys, and of weights and values: Float32, or BFloat16 where
  /// has_bfloat16_attention(), or attention_integers() of bytes. Scores and exponentials are
  /// float32.
  ElementType scores_product = ElementType::Float32;
  ElementType values_product = ElementType::Float32;
  /// Zero points of products in Int8: that of queries as UInt8, those of keys and values as Int8.
  int32_t query_zero = 0, key_zero = 0, value_zero = 0;
  /// Unless this is 0, weights are rounded to multiples of it: weights_zero less than a byte.
  float weights_scale = 0.0f;
  int32_t weights_zero = 0;     ///< 0 to 255
  bool emulates_quads = false;  ///< Int8 by other instructions, for tests
};

/// A matrix in Float32 or BFloat16, or of bytes for products of integers: element [i, j] is number
/// i * row + j * column.
struct AttentionMatrix {
  const std::byte* first = nullptr;
  ElementType type = ElementType::Float32;
  int64_t row = 0;
  int64_t column = 0;
  int32_t zero = 0;  ///< of bytes
};

/// What a block of rows reads and writes.
struct AttentionBlock {
  int64_t rows = 0;             ///< up to attention_rows()
  AttentionMatrix query;        ///< [rows, depth]
  const float* mask = nullptr;  ///< added to the scores; may be null
  int64_t mask_row = 0;
  int64_t mask_column = 0;  ///< 1, or 0 for the same number for all keys
  const std::byte* keys = nullptr;
  const std::byte* values = nullptr;
  std::byte* scratch = nullptr;  ///< attention_scratch_bytes(), aligned to 64 bytes
  std::byte* output = nullptr;   ///< [rows, columns], columns side by side
  ElementType output_type = ElementType::Float32;
  int64_t output_row = 0;
};

bool has_bfloat16_attention();
/// What multiplies bytes here: Int8 with VNNI, Int16 without it, whose sums are the same; Float32
/// where nothing does.
ElementType attention_integers();

/// Rows of a block at most.
int64_t attention_rows();

/// Multiples of 64.
size_t attention_keys_bytes(const AttentionShape& shape);
size_t attention_values_bytes(const AttentionShape& shape);
size_t attention_scratch_bytes(const AttentionShape& shape);

/// `keys`: [depth, keys]; `values`: [keys, columns].
void pack_attention_keys(const AttentionShape& shape, const AttentionMatrix& keys,
                         std::byte* packed);
void pack_attention_values(const AttentionShape& shape, const AttentionMatrix& values,
                           std::byte* packed);

void attend(const AttentionShape& shape, const AttentionBlock& block);

}  // namespace het::cpu
