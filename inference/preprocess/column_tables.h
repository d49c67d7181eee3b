#pragma once

#include "inference/preprocess/conversion.h"
#include "inference/preprocess/row_kernels.h"
#include "inference/preprocess/scratch.h"

namespace het::preprocess_internal {

/// Where the samples of every target column lie in the rows of the picture's format.
struct ColumnTables {
  int columns = 0;  ///< a multiple of kColumnBlock; entries past the destination repeat its last
  const int32_t* weights = nullptr;  ///< the first sample's in the low half, in 2048ths
  ColumnSamples luma;                ///< Y, gray, or the planes of planar RGB
  ColumnSamples chroma;              ///< NV12 and I420
  ColumnPixels pixels;               ///< packed RGB
};

/// True when the machine has the vector instructions and the format's rows are long enough to be
/// read in 32-bit words.
bool fits_row_kernels(const Conversion& conversion);

int padded_columns(int columns);

/// Bytes that make_column_tables() takes from the scratch.
size_t column_tables_bytes(const Conversion& conversion);
ColumnTables make_column_tables(const Conversion& conversion, Scratch& scratch);

}  // namespace het::preprocess_internal
