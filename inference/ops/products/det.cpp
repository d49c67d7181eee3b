#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_det(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_rank(context, 0, "X", 2, kAnyRank));
  const Shape& shape = context.shape(0);
  if (shape.back() != shape[shape.size() - 2]) {
    return error(StatusCode::ShapeMismatch, "matrices of shape {} are not square",
                 to_string(shape));
  }
  context.set_output(0, context.type(0), Shape(shape.begin(), shape.end() - 2));
  return {};
}

/// Gaussian elimination with partial pivoting; destroys the n x n matrix `a`. No rows give 1.
double determinant(std::vector<double>& a, size_t n) {
  double result = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row) {
      if (std::fabs(a[row * n + column]) > std::fabs(a[pivot * n + column])) pivot = row;
    }
    if (a[pivot * n + column] == 0) return 0;
    if (pivot != column) {
      for (size_t k = 0; k < n; ++k) std::swap(a[pivot * n + k], a[column * n + k]);
      result = -result;
    }
    result *= a[column * n + column];
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = a[row * n + column] / a[column * n + column];
      for (size_t k = column; k < n; ++k) a[row * n + k] -= factor * a[column * n + k];
    }
  }
  return result;
}

Status evaluate_det(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  const auto n = static_cast<size_t>(x.shape().back());
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const T* src = x.data<T>();
    for (T& value : y.values<T>()) {
      std::vector<double> matrix(src, src + n * n);
      value = numeric_cast<T>(determinant(matrix, n));
      src += n * n;
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_det(OpRegistry& registry) {
  registry.add({"Det", "", 22, 1, 1, infer_det, evaluate_det});
}

}  // namespace het
