#include <algorithm>
#include <array>
#include <string>

#include "inference/ops/detection/het_prior_box.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

enum : size_t { kOutputSize, kImageSize };

Result<ElementType> output_type(const Attributes& attributes) {
  HET_ASSIGN(const ElementType type,
             parse_element_type(attributes.get_string("output_type", "float32")));
  if (is_float(type)) return type;
  return error(StatusCode::InvalidArgument, "output_type is {}, but must be a float type",
               to_string(type));
}

Status check_size(const InferContext& context, size_t index, std::string_view name) {
  HET_TRY(check_input(context, index, name, kIndexTypes));
  if (context.shape(index) == Shape{2}) return {};
  return error(StatusCode::ShapeMismatch, "{} has shape {}, but must hold height and width", name,
               to_string(context.shape(index)));
}

/// [2, 4 * height * width * priors]; fails on sizes that no tensor can have.
Result<Shape> priors_shape(const std::vector<int64_t>& grid, int64_t priors) {
  int64_t values = 0;
  if (grid[0] < 0 || grid[1] < 0 || __builtin_mul_overflow(grid[0], grid[1], &values) ||
      __builtin_mul_overflow(values, priors, &values) ||
      __builtin_mul_overflow(values, int64_t{4}, &values)) {
    return error(StatusCode::InvalidArgument,
                 "output_size is {} x {} with {} boxes per point, which no tensor can hold",
                 grid[0], grid[1], priors);
  }
  Shape shape{2, values};
  HET_TRY(checked_element_count(shape));
  return shape;
}

}  // namespace

Status infer_priors(InferContext& context, int64_t priors_per_point) {
  const size_t variances = context.attributes().get_floats("variance").size();
  if (variances != 0 && variances != 1 && variances != 4) {
    return error(StatusCode::InvalidArgument, "variance has {} values, but must have 0, 1 or 4",
                 variances);
  }
  HET_ASSIGN(const ElementType type, output_type(context.attributes()));
  HET_TRY(check_size(context, kOutputSize, "output_size"));
  HET_TRY(check_size(context, kImageSize, "image_size"));
  HET_ASSIGN(const auto grid, known_ints(context, kOutputSize, "output_size"));
  Shape shape{2, kUnknownDim};
  if (grid) {
    HET_ASSIGN(shape, priors_shape(*grid, priors_per_point));
  }
  context.set_output(0, type, std::move(shape));
  return {};
}

Result<PriorGrid> read_prior_grid(EvaluateContext& context) {
  HET_ASSIGN(const std::vector<int64_t> size, to_int64_vector(context.input(kOutputSize)));
  HET_ASSIGN(const std::vector<int64_t> image, to_int64_vector(context.input(kImageSize)));
  if (image[0] < 1 || image[1] < 1) {
    return error(StatusCode::InvalidArgument,
                 "image_size is {} x {}, but both must be 1 pixel or more", image[0], image[1]);
  }
  PriorGrid grid;
  grid.height = size[0];
  grid.width = size[1];
  grid.image_height = static_cast<double>(image[0]);
  grid.image_width = static_cast<double>(image[1]);
  return grid;
}

Status write_priors(EvaluateContext& context, const PriorGrid& grid,
                    const std::vector<PriorShape>& shapes) {
  HET_ASSIGN(const ElementType type, output_type(context.attributes()));
  HET_ASSIGN(const Shape shape,
             priors_shape({grid.height, grid.width}, static_cast<int64_t>(shapes.size())));
  if (context.output(0).empty()) HET_TRY(context.allocate_output(0, type, shape));
  if (shape[1] == 0) return {};  // rows without columns may be any number
  std::vector<float> variance = context.attributes().get_floats("variance");
  if (variance.empty()) variance = {0.1f};
  return dispatch_float(type, [&]<class T>() -> Status {
    T* box = context.output(0).data<T>();
    T* variances = box + shape[1];
    for (int64_t row = 0; row < grid.height; ++row) {
      for (int64_t column = 0; column < grid.width; ++column) {
        const double point_x = (static_cast<double>(column) + grid.offset) * grid.step_x;
        const double point_y = (static_cast<double>(row) + grid.offset) * grid.step_y;
        for (const PriorShape& prior : shapes) {
          const double x = point_x + prior.x;
          const double y = point_y + prior.y;
          std::array<double, 4> sides{(x - prior.half_width) / grid.image_width,
                                      (y - prior.half_height) / grid.image_height,
                                      (x + prior.half_width) / grid.image_width,
                                      (y + prior.half_height) / grid.image_height};
          if (prior.inside) {
            sides = {std::max(sides[0], 0.0), std::max(sides[1], 0.0), std::min(sides[2], 1.0),
                     std::min(sides[3], 1.0)};
          }
          for (const double side : sides) {
            *box++ = numeric_cast<T>(grid.clip ? std::clamp(side, 0.0, 1.0) : side);
          }
        }
      }
    }
    for (int64_t i = 0; i < shape[1]; ++i) {
      variances[i] = numeric_cast<T>(variance[variance.size() == 4 ? i % 4 : 0]);
    }
    return {};
  });
}

}  // namespace het
