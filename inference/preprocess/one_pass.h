#pragma once

#include "inference/base/parallel_loop.h"
#include "inference/preprocess/conversion.h"

namespace het::preprocess_internal {

/// The conversion in one pass over the target rows, vectorised, in parts where there is a loop.
/// Needs fits_row_kernels(). Within float rounding of convert_by_definition(). Fails with
/// OutOfMemory only.
Status convert_by_rows(const Conversion& conversion, const PreprocessDesc& desc,
                       const ParallelLoop* loop = nullptr);

}  // namespace het::preprocess_internal
