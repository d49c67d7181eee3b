#include "tools/compare.h"

#include <cmath>
#include <limits>

namespace het {
namespace {

double distance(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0.0;
  if (a == b) return 0.0;  // also equal infinities
  const double difference = std::abs(a - b);
  return std::isfinite(difference) ? difference : std::numeric_limits<double>::infinity();
}

template <class T>
void append(const Tensor& tensor, std::vector<double>& values) {
  for (const T v : tensor.values<T>()) values.push_back(static_cast<double>(v));
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
  // Only 64-bit types need more than float holds.
  std::vector<double> values;
  if (tensor.is_dense() && tensor.type() == ElementType::Float64) {
    append<double>(tensor, values);
  } else if (tensor.is_dense() && tensor.type() == ElementType::Int64) {
    append<int64_t>(tensor, values);
  } else if (tensor.is_dense() && tensor.type() == ElementType::UInt64) {
    append<uint64_t>(tensor, values);
  } else if (tensor.is_dense() && tensor.type() == ElementType::Int32) {
    append<int32_t>(tensor, values);
  } else if (tensor.is_dense() && tensor.type() == ElementType::UInt32) {
    append<uint32_t>(tensor, values);
  } else {
    HET_ASSIGN(const std::vector<float> floats, to_float_vector(tensor));
    values.assign(floats.begin(), floats.end());
  }
  return values;
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
