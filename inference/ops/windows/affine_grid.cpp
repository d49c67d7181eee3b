#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_affine_grid(InferContext& context) {
  HET_TRY(check_input(context, 0, "theta", kFloatTypes));
  HET_TRY(check_attributes(context.attributes(), {{"align_corners", AttributeType::Int}}));
  HET_ASSIGN(const auto size, known_ints(context, 1, "size"));
  HET_TRY(check_rank(context, 0, "theta", 3, 3));
  const Shape& theta = context.shape(0);
  const int64_t dims = theta[1];
  if ((dims != 2 && dims != 3) || theta[2] != dims + 1 || context.shape(1) != Shape{dims + 2}) {
    return error(StatusCode::ShapeMismatch,
                 "theta of shape {} and {} sizes: they must be [N,2,3] and 4, or [N,3,4] and 5",
                 to_string(theta), to_string(context.shape(1)));
  }
  Shape shape(static_cast<size_t>(dims) + 2, kUnknownDim);
  shape[0] = theta[0];
  shape.back() = dims;
  if (size) {
    if (!is_static(*size) || (*size)[0] != theta[0]) {
      return error(StatusCode::ShapeMismatch, "size {} does not fit theta of shape {}",
                   to_string(*size), to_string(theta));
    }
    for (size_t d = 0; d < static_cast<size_t>(dims); ++d) shape[d + 1] = (*size)[d + 2];
  }
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Position i of n along a dimension that spans [-1, 1]; the middle when there is one corner only.
double grid_position(int64_t i, int64_t n, bool align_corners) {
  if (!align_corners) return (2.0 * static_cast<double>(i) + 1) / static_cast<double>(n) - 1;
  return n > 1 ? 2.0 * static_cast<double>(i) / static_cast<double>(n - 1) - 1 : 0;
}

/// Computes in double: grid[n, (d,) h, w] = theta[n] * (x, y, (z,) 1).
Status evaluate_affine_grid(EvaluateContext& context) {
  const Tensor& theta = context.input(0);
  Tensor& grid = context.output(0);
  const bool align = context.attributes().get_int("align_corners", 0) != 0;
  const bool volume = theta.shape()[1] == 3;
  const Shape& shape = grid.shape();
  const int64_t depth = volume ? shape[1] : 1;
  const int64_t height = shape[shape.size() - 3];
  const int64_t width = shape[shape.size() - 2];
  const int64_t coordinates = shape.back();
  return dispatch_float(theta.type(), [&]<class T>() -> Status {
    T* dst = grid.data<T>();
    for (int64_t n = 0; n < shape[0]; ++n) {
      const T* matrix = theta.data<T>() + n * coordinates * (coordinates + 1);
      for (int64_t i = 0; i < depth * height * width; ++i) {
        const double position[3] = {grid_position(i % width, width, align),
                                    grid_position(i / width % height, height, align),
                                    grid_position(i / width / height, depth, align)};
        for (int64_t row = 0; row < coordinates; ++row) {
          const T* factors = matrix + row * (coordinates + 1);
          double sum = static_cast<double>(factors[coordinates]);
          for (int64_t k = 0; k < coordinates; ++k) {
            sum += static_cast<double>(factors[k]) * position[k];
          }
          *dst++ = numeric_cast<T>(sum);
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_affine_grid(OpRegistry& registry) {
  registry.add({"AffineGrid", "", 20, 2, 2, infer_affine_grid, evaluate_affine_grid});
}

}  // namespace het
