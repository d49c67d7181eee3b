#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_inverse(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"adjoint", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "data", kFloatTypes));
  HET_TRY(check_rank(context, 0, "data", 2, kAnyRank));
  const Shape& shape = context.shape(0);
  if (shape.back() != shape[shape.size() - 2]) {
    return error(StatusCode::ShapeMismatch, "matrices of shape {} are not square",
                 to_string(shape));
  }
  context.set_output(0, context.type(0), shape);
  return {};
}

/// Gauss and Jordan's elimination with partial pivoting: destroys the n x n matrix `a`, leaves its
/// inverse in `inverse`. Without an inverse elements are not finite.
void invert(std::vector<double>& a, std::vector<double>& inverse, size_t n) {
  inverse.assign(n * n, 0.0);
  for (size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row) {
      if (std::fabs(a[row * n + column]) > std::fabs(a[pivot * n + column])) pivot = row;
    }
    if (pivot != column) {
      for (size_t k = 0; k < n; ++k) {
        std::swap(a[pivot * n + k], a[column * n + k]);
        std::swap(inverse[pivot * n + k], inverse[column * n + k]);
      }
    }
    const double scale = a[column * n + column];
    for (size_t k = 0; k < n; ++k) {
      a[column * n + k] /= scale;
      inverse[column * n + k] /= scale;
    }
    for (size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = a[row * n + column];
      for (size_t k = 0; k < n; ++k) {
        a[row * n + k] -= factor * a[column * n + k];
        inverse[row * n + k] -= factor * inverse[column * n + k];
      }
    }
  }
}

/// The inverse of every matrix of the last two dimensions, with `adjoint` transposed. In double.
/// docs.openvino.ai, operation specification Inverse-14.
Status evaluate_inverse(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  const bool adjoint = context.attributes().get_int("adjoint", 0) != 0;
  const auto n = static_cast<size_t>(x.shape().back());
  const size_t matrices = n == 0 ? 0 : static_cast<size_t>(x.element_count()) / (n * n);
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    std::vector<double> inverse;
    for (size_t m = 0; m < matrices; ++m) {
      const T* src = x.data<T>() + m * n * n;
      std::vector<double> matrix(src, src + n * n);
      invert(matrix, inverse, n);
      T* dst = y.data<T>() + m * n * n;
      for (size_t i = 0; i < n * n; ++i) {
        dst[i] = numeric_cast<T>(inverse[adjoint ? i % n * n + i / n : i]);
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_inverse(OpRegistry& registry) {
  registry.add({"Inverse", "het", 14, 1, 1, infer_inverse, evaluate_inverse});
}

}  // namespace het
