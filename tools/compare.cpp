#include "tools/compare.h"

#include <cmath>
#include <limits>

#include "inference/ops/elementwise/cast.h"

namespace het {
namespace {

double distance(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0.0;
  if (a == b) return 0.0;  // also equal infinities
  const double difference = std::abs(a - b);
  return std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity();
}

}  // namespace

Comparison compare(const std::vector<double>& actual, const std::vector<double>& expected) {
  Comparison result;
  double dot = 0.0;
  double actual_square = 0.0;
  double expected_square = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = distance(actual[i], expected[i]);
    if (difference > result.maximum_error) {
      result.maximum_error = difference;
      result.position = i;
      result.actual = actual[i];
      result.expected = expected[i];
    }
    if (std::isfinite(actual[i]) && std::isfinite(expected[i])) {
      dot += actual[i] * expected[i];
      actual_square += actual[i] * actual[i];
      expected_square += expected[i] * expected[i];
    }
  }
  if (actual_square > 0.0 || expected_square > 0.0) {
    const double product = std::sqrt(actual_square) * std::sqrt(expected_square);
    result.cosine = product > 0.0 ? dot / product : 0.0;
  }
  return result;
}

Result<std::vector<double>> to_doubles(const Tensor& tensor) {
  HET_ASSIGN(const Tensor dense, tensor.is_dense() ? tensor : tensor.clone());
  HET_ASSIGN(Tensor wide, Tensor::allocate({ElementType::Float64, dense.shape()}));
  HET_TRY(cast_elements(dense, wide));
  const std::span<const double> values = wide.values<double>();
  return std::vector<double>(values.begin(), values.end());
}

bool all_close(const std::vector<double>& actual, const std::vector<double>& expected,
               double relative, double absolute, Comparison& worst) {
  bool close = true;
  double largest_excess = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = distance(actual[i], expected[i]);
    const double allowed =
        std::isfinite(expected[i]) ? absolute + relative * std::abs(expected[i]) : 0.0;
    if (difference <= allowed) continue;
    close = false;
    if (difference - allowed > largest_excess) {
      largest_excess = difference - allowed;
      worst.maximum_error = difference;
      worst.position = i;
      worst.actual = actual[i];
      worst.expected = expected[i];
    }
  }
  return close;
}

}  // namespace het
