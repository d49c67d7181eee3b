#include <algorithm>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

enum : size_t { kData, kRotatedRois, kBatches };

/// Samples of a bin along one dimension; more are refused.
constexpr double kMostSamples = 1 << 16;

Status infer_roi_align_rotated(InferContext& context) {
  const Attributes& attributes = context.attributes();
  HET_TRY(check_attributes(attributes, {{"pooled_h", AttributeType::Int, true},
                                        {"pooled_w", AttributeType::Int, true},
                                        {"sampling_ratio", AttributeType::Int},
                                        {"spatial_scale", AttributeType::Float},
                                        {"clockwise_mode", AttributeType::Int}}));
  HET_TRY(check_input(context, kData, "data", kFloatTypes));
  HET_TRY(check_input(context, kRotatedRois, "rois", kFloatTypes));
  HET_TRY(check_input(context, kBatches, "batch_indices", kIndexTypes));
  const int64_t height = attributes.get_int("pooled_h", 0);
  const int64_t width = attributes.get_int("pooled_w", 0);
  const int64_t ratio = attributes.get_int("sampling_ratio", 0);
  const Shape& x = context.shape(kData);
  const Shape& rois = context.shape(kRotatedRois);
  if (height < 1 || width < 1 || ratio < 0 || ratio > kMostSamples || x.size() != 4 ||
      rois.size() != 2 || rois[1] != 5 || context.shape(kBatches) != Shape{rois[0]} ||
      (rois[0] > 0 && (x[2] == 0 || x[3] == 0))) {
    return error(
        StatusCode::ShapeMismatch,
        "data have shape {}, rois {}, batch_indices {}, pooled_h x pooled_w is {} x {} and "
        "sampling_ratio {}, but must have [n, c, h, w] with pixels, [regions, 5], "
        "[regions], 1 or more and 0 to 65536",
        to_string(x), to_string(rois), to_string(context.shape(kBatches)), height, width, ratio);
  }
  Shape shape{rois[0], x[1], height, width};
  HET_TRY(checked_element_count(shape));
  context.set_output(0, context.type(kData), std::move(shape));
  return {};
}

/// A turned region in the map's pixels.
struct TurnedRegion {
  double center_x, center_y, width, height, cosine, sine;
  double samples_y, samples_x;
};

/// The two neighbours of a position and the part of the second; false where it is outside.
bool neighbours(double position, int64_t size, int64_t& low, int64_t& high, double& part) {
  if (!(position >= -1 && position <= static_cast<double>(size))) return false;
  position = std::max(position, 0.0);
  low = std::min(static_cast<int64_t>(position), size - 1);
  high = std::min(low + 1, size - 1);
  part = low == size - 1 ? 0 : position - static_cast<double>(low);
  return true;
}

template <class T>
double interpolated(const T* plane, int64_t height, int64_t width, double y, double x) {
  int64_t top = 0, bottom = 0, left = 0, right = 0;
  double down = 0, across = 0;
  if (!neighbours(y, height, top, bottom, down) || !neighbours(x, width, left, right, across)) {
    return 0;
  }
  const auto row = [&](int64_t at) {
    const auto a = static_cast<double>(plane[at * width + left]);
    const auto b = static_cast<double>(plane[at * width + right]);
    return a + (b - a) * across;
  };
  return row(top) + (row(bottom) - row(top)) * down;
}

template <class T>
double mean_of_bin(const TurnedRegion& region, const T* plane, const Shape& map, double bin_y,
                   double bin_x, double bins_y, double bins_x) {
  const double step_y = region.height / bins_y / region.samples_y;
  const double step_x = region.width / bins_x / region.samples_x;
  double sum = 0;
  for (double i = 0; i < region.samples_y; ++i) {
    const double y = (bin_y * region.samples_y + i + 0.5) * step_y - region.height / 2;
    for (double j = 0; j < region.samples_x; ++j) {
      const double x = (bin_x * region.samples_x + j + 0.5) * step_x - region.width / 2;
      sum +=
          interpolated(plane, map[2], map[3], region.center_y + y * region.cosine + x * region.sine,
                       region.center_x + x * region.cosine - y * region.sine);
    }
  }
  return sum / std::max(1.0, region.samples_y * region.samples_x);
}

/// The mean of interpolated samples in every bin of regions [center x, center y, width, height,
/// angle], pixels' centres at halves. In double. docs.openvino.ai, operation specification
/// ROIAlignRotated-15.
Status evaluate_roi_align_rotated(EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  const Tensor& data = context.input(kData);
  const Shape& map = data.shape();
  const Shape& shape = context.output(0).shape();
  HET_ASSIGN(const std::vector<double> rois, to_double_vector(context.input(kRotatedRois)));
  HET_ASSIGN(const std::vector<int64_t> batches, to_int64_vector(context.input(kBatches)));
  const auto scale = static_cast<double>(attributes.get_float("spatial_scale", 1));
  const auto ratio = static_cast<double>(attributes.get_int("sampling_ratio", 0));
  const double turn = attributes.get_int("clockwise_mode", 0) != 0 ? 1 : -1;
  const auto bins_y = static_cast<double>(shape[2]);
  const auto bins_x = static_cast<double>(shape[3]);
  return dispatch_float(data.type(), [&]<class T>() -> Status {
    T* dst = context.output(0).data<T>();
    for (size_t r = 0; r < batches.size(); ++r) {
      if (batches[r] < 0 || batches[r] >= map[0]) {
        return error(StatusCode::InvalidArgument,
                     "batch_indices contains {} for region {}, but data have shape {}", batches[r],
                     r, to_string(map));
      }
      const double* roi = &rois[5 * r];
      TurnedRegion region{
          roi[0] * scale - 0.5, roi[1] * scale - 0.5,    roi[2] * scale, roi[3] * scale,
          std::cos(roi[4]),     turn * std::sin(roi[4]), ratio,          ratio};
      if (ratio == 0) {
        // In float: 5 * 0.8f is 4, not a little more.
        region.samples_y =
            std::ceil(static_cast<float>(region.height) / static_cast<float>(bins_y));
        region.samples_x = std::ceil(static_cast<float>(region.width) / static_cast<float>(bins_x));
      }
      if (!(region.samples_y <= kMostSamples && region.samples_x <= kMostSamples)) {
        return error(StatusCode::InvalidArgument,
                     "region {} of {} x {} pixels needs more than 65536 samples a bin", r,
                     region.height, region.width);
      }
      for (int64_t c = 0; c < shape[1]; ++c) {
        const T* plane = data.data<T>() + (batches[r] * shape[1] + c) * map[2] * map[3];
        for (int64_t y = 0; y < shape[2]; ++y) {
          for (int64_t x = 0; x < shape[3]; ++x) {
            *dst++ = numeric_cast<T>(mean_of_bin(region, plane, map, static_cast<double>(y),
                                                 static_cast<double>(x), bins_y, bins_x));
          }
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_roi_align_rotated(OpRegistry& registry) {
  registry.add(
      {"ROIAlignRotated", "het", 15, 3, 3, infer_roi_align_rotated, evaluate_roi_align_rotated});
}

}  // namespace het
