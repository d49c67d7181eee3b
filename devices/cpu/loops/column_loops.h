#pragma once

#include <cstdint>

#include "devices/cpu/loops/row_loops.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {

/// dst[i] = the sum, maximum ... of column i < count over `rows` >= 1 rows that begin `stride`
/// values apart. The order of sums depends on the instruction set, the number of rows and the place
/// of the column alone.
void reduce_columns(Accumulation kind, const float* src, int64_t rows, int64_t stride,
                    int64_t count, float* dst);
void reduce_columns(Accumulation kind, const BFloat16* src, int64_t rows, int64_t stride,
                    int64_t count, float* dst);

}  // namespace het::cpu
