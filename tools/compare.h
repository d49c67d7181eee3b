#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het {

/// How far a tensor is from its reference.
struct Comparison {
  double cosine = 1.0;         ///< cosine similarity; 1 when both are zero
  double maximum_error = 0.0;  ///< largest absolute difference
  size_t position = 0;         ///< where it is, as an index into the compared values
  double actual = 0.0;         ///< the values there
  double expected = 0.0;
};

/// Compares two sequences of equal length; a NaN on one side only, or unequal infinities, give an
/// infinite error.
Comparison compare(const std::vector<double>& actual, const std::vector<double>& expected);

/// The values of any numeric host tensor, in row-major order.
Result<std::vector<double>> to_doubles(const Tensor& tensor);

/// True when |actual - expected| <= absolute + relative * |expected| everywhere, as NumPy's
/// assert_allclose has it; `worst` is then the comparison at the largest excess.
bool all_close(const std::vector<double>& actual, const std::vector<double>& expected,
               double relative, double absolute, Comparison& worst);

}  // namespace het
