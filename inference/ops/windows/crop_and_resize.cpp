#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

enum : size_t { kX, kRegions, kBatchIndices, kCropSize };

Status infer_crop_and_resize(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"extrapolation_value", AttributeType::Float},
                                                  {"mode", AttributeType::String}}));
  const std::string mode = context.attributes().get_string("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest") {
    return error(StatusCode::InvalidArgument, "mode is '{}', but must be bilinear or nearest",
                 mode);
  }
  HET_TRY(check_input(context, kX, "X", kFloatTypes));
  HET_TRY(check_rank(context, kX, "X", 4, 4));
  HET_TRY(check_input(context, kRegions, "rois", kFloatTypes));
  HET_TRY(check_input(context, kBatchIndices, "batch_indices", kIndexTypes));
  const Shape& x = context.shape(kX);
  const Shape& regions = context.shape(kRegions);
  if (regions.size() != 2 || regions[1] != 4 || context.shape(kBatchIndices) != Shape{regions[0]} ||
      x[2] < 1 || x[3] < 1) {
    return error(StatusCode::ShapeMismatch,
                 "X has shape {}, rois {} and batch_indices {}, but they must have [n, c, h, w], "
                 "[regions, 4] and [regions]",
                 to_string(x), to_string(regions), to_string(context.shape(kBatchIndices)));
  }
  HET_ASSIGN(const auto size, known_ints(context, kCropSize, "crop_size"));
  Shape shape{regions[0], x[1], kUnknownDim, kUnknownDim};
  if (size) {
    if (size->size() != 2 || (*size)[0] < 1 || (*size)[1] < 1) {
      return error(StatusCode::InvalidArgument, "crop_size is {}, but must be two sizes above 0",
                   to_string(*size));
    }
    shape[2] = (*size)[0];
    shape[3] = (*size)[1];
    HET_TRY(checked_element_count(shape));
  }
  context.set_output(0, context.type(kX), std::move(shape));
  return {};
}

/// Position in pixels of crop row or column `i` of `count`, between two normalised edges; in float,
/// as ONNX Runtime computes it: positions between two pixels decide what is nearest.
double position(double from, double to, int64_t i, int64_t count, int64_t size) {
  const auto low = static_cast<float>(from);
  const auto high = static_cast<float>(to);
  const auto last = static_cast<float>(size - 1);
  if (count == 1) return static_cast<double>(0.5f * (low + high) * last);
  const float step = (high - low) * last / static_cast<float>(count - 1);
  return static_cast<double>(low * last + static_cast<float>(i) * step);
}

/// The element at (y, x) of a plane, or `outside` beyond its first and last pixels.
double sample(const double* plane, int64_t height, int64_t width, double y, double x, bool nearest,
              double outside) {
  const bool inside = y >= 0 && y <= static_cast<double>(height - 1) && x >= 0 &&
                      x <= static_cast<double>(width - 1);
  if (!inside) return outside;
  const auto at = [&](double row, double column) {
    return plane[static_cast<int64_t>(row) * width + static_cast<int64_t>(column)];
  };
  if (nearest) return at(std::round(y), std::round(x));
  const double top = std::floor(y);
  const double left = std::floor(x);
  const double down = y - top;
  const double right = x - left;
  const double upper = at(top, left) * (1 - right) + at(top, std::ceil(x)) * right;
  const double lower =
      at(std::ceil(y), left) * (1 - right) + at(std::ceil(y), std::ceil(x)) * right;
  return upper * (1 - down) + lower * down;
}

/// The edges of a region lie on the first and last rows and columns of its crop (TensorFlow's
/// operator of this name with channels first).
Status evaluate_crop_and_resize(EvaluateContext& context) {
  const Shape& shape = context.input(kX).shape();
  Tensor& y = context.output(0);
  const Shape& dims = y.shape();
  HET_ASSIGN(const std::vector<double> x, to_double_vector(context.input(kX)));
  HET_ASSIGN(const std::vector<double> regions, to_double_vector(context.input(kRegions)));
  HET_ASSIGN(const std::vector<int64_t> pictures, to_int64_vector(context.input(kBatchIndices)));
  const bool nearest = context.attributes().get_string("mode", "bilinear") == "nearest";
  const auto outside =
      static_cast<double>(context.attributes().get_float("extrapolation_value", 0.0f));
  std::vector<double> dst;
  dst.reserve(static_cast<size_t>(y.element_count()));
  for (int64_t r = 0; r < dims[0]; ++r) {
    const int64_t n = pictures[static_cast<size_t>(r)];
    if (n < 0 || n >= shape[0]) {
      return error(StatusCode::InvalidArgument, "region {} is of picture {}, but there are {}", r,
                   n, shape[0]);
    }
    const double* region = regions.data() + r * 4;
    for (int64_t c = 0; c < dims[1]; ++c) {
      const double* plane = x.data() + (n * shape[1] + c) * shape[2] * shape[3];
      for (int64_t i = 0; i < dims[2] * dims[3]; ++i) {
        const double row = position(region[0], region[2], i / dims[3], dims[2], shape[2]);
        const double column = position(region[1], region[3], i % dims[3], dims[3], shape[3]);
        dst.push_back(sample(plane, shape[2], shape[3], row, column, nearest, outside));
      }
    }
  }
  return store_doubles(dst, y);
}

}  // namespace

HET_REGISTRATION void register_crop_and_resize(OpRegistry& registry) {
  registry.add(
      {"CropAndResize", "com.microsoft", 1, 4, 4, infer_crop_and_resize, evaluate_crop_and_resize});
}

}  // namespace het
