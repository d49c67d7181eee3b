#include <algorithm>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/windows/larger.h"

namespace het {
namespace {

Status infer_max_roi_pool(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"pooled_shape", AttributeType::Ints, true},
                                                  {"spatial_scale", AttributeType::Float}}));
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_rank(context, 0, "X", 4, 4));
  HET_TRY(check_input(context, 1, "rois", kFloatTypes));
  const Shape& rois = context.shape(1);
  const std::vector<int64_t> pooled = context.attributes().get_ints("pooled_shape");
  if (rois.size() != 2 || rois[1] != 5 || pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1 ||
      pooled[0] > INT32_MAX || pooled[1] > INT32_MAX) {
    return error(StatusCode::ShapeMismatch,
                 "rois has shape {} and pooled_shape is {}, but they must be [regions, 5] and two "
                 "sizes",
                 to_string(rois), to_string(pooled));
  }
  Shape shape{rois[0], context.shape(0)[1], pooled[0], pooled[1]};
  HET_TRY(checked_element_count(shape));
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// The pixels [begin, end) of bin `i` in one dimension of a region.
struct BinRange {
  int64_t begin;
  int64_t end;
};

BinRange bin_range(double from, double to, double scale, int64_t bins, int64_t i, int64_t size) {
  // What lies beyond the picture is cut off first, so that huge coordinates stay numbers.
  const double limit = static_cast<double>(INT32_MAX);
  const auto pixel = [&](double value) {
    return std::isnan(value) ? 0.0 : std::round(std::clamp(value * scale, -limit, limit));
  };
  const double start = pixel(from);
  const double width = std::max(pixel(to) - start + 1, 1.0) / static_cast<double>(bins);
  const auto clip = [&](double value) {
    return static_cast<int64_t>(std::clamp(value + start, 0.0, static_cast<double>(size)));
  };
  return {clip(std::floor(static_cast<double>(i) * width)),
          clip(std::ceil(static_cast<double>(i + 1) * width))};
}

/// The largest element of every bin of a region, whose corners are rounded to whole pixels and both
/// belong to it (Fast R-CNN); a bin outside the picture gives 0.
Status evaluate_max_roi_pool(EvaluateContext& context) {
  const Shape& shape = context.input(0).shape();
  Tensor& y = context.output(0);
  HET_ASSIGN(const std::vector<double> x, to_double_vector(context.input(0)));
  HET_ASSIGN(const std::vector<double> rois, to_double_vector(context.input(1)));
  const auto scale = static_cast<double>(context.attributes().get_float("spatial_scale", 1.0f));
  const Shape& dims = y.shape();
  std::vector<double> dst;
  dst.reserve(static_cast<size_t>(y.element_count()));
  for (int64_t r = 0; r < dims[0]; ++r) {
    const double* roi = rois.data() + r * 5;
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(shape[0]))) {
      return error(StatusCode::InvalidArgument, "region {} is of picture {}, but there are {}", r,
                   roi[0], shape[0]);
    }
    const auto n = static_cast<int64_t>(roi[0]);
    for (int64_t i = 0; i < dims[1] * dims[2] * dims[3]; ++i) {
      const double* plane =
          x.data() + (n * shape[1] + i / (dims[2] * dims[3])) * shape[2] * shape[3];
      const BinRange rows =
          bin_range(roi[2], roi[4], scale, dims[2], i / dims[3] % dims[2], shape[2]);
      const BinRange columns = bin_range(roi[1], roi[3], scale, dims[3], i % dims[3], shape[3]);
      const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
      double largest = empty ? 0 : plane[rows.begin * shape[3] + columns.begin];
      for (int64_t h = rows.begin; h < rows.end; ++h) {
        for (int64_t w = columns.begin; w < columns.end; ++w) {
          const double value = plane[h * shape[3] + w];
          if (is_larger(value, largest)) largest = value;
        }
      }
      dst.push_back(largest);
    }
  }
  return store_doubles(dst, y);
}

}  // namespace

HET_REGISTRATION void register_max_roi_pool(OpRegistry& registry) {
  registry.add({"MaxRoiPool", "", 22, 2, 2, infer_max_roi_pool, evaluate_max_roi_pool});
}

}  // namespace het
