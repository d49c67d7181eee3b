#pragma once

#include <string>

#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het {

/// Reads a NumPy .npy file (format 1.0 to 3.0, little-endian, C or Fortran order, no objects) of a
/// type that ElementType has; at most 4 GiB. The error names the file and what is wrong.
Result<Tensor> read_npy(const std::string& path);

/// Writes a dense or strided host tensor as format 1.0; bfloat16 is written as float32, since NumPy
/// has no such type. Fails on sub-byte types.
Status write_npy(const std::string& path, const Tensor& tensor);

}  // namespace het
