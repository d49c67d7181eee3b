#pragma once

#include <cstdint>

#include "inference/tensors/element_type.h"

namespace het::cpu {

/// Maximum pooling of pictures [n, h, w, c]. Every window has a pixel of the picture. In a blocked
/// format every block is a picture of its own, with a block's channels.
struct MaxPoolShape {
  int64_t n = 1;
  int64_t c = 1;
  int64_t ih = 1;
  int64_t iw = 1;
  int64_t oh = 1;
  int64_t ow = 1;
  int64_t kh = 1;
  int64_t kw = 1;
  int64_t stride_y = 1;
  int64_t stride_x = 1;
  int64_t pad_top = 0;
  int64_t pad_left = 0;
};

/// Rows [begin, end) of the n * oh rows of dst.
void max_pool_rows(const MaxPoolShape& shape, const BFloat16* src, int64_t begin, int64_t end,
                   BFloat16* dst);
void max_pool_rows(const MaxPoolShape& shape, const float* src, int64_t begin, int64_t end,
                   float* dst);
void max_pool_rows(const MaxPoolShape& shape, const uint8_t* src, int64_t begin, int64_t end,
                   uint8_t* dst);
void max_pool_rows(const MaxPoolShape& shape, const int8_t* src, int64_t begin, int64_t end,
                   int8_t* dst);

}  // namespace het::cpu
