#include <algorithm>
#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/detection/het_region.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"
#include "inference/ops/windows/larger.h"

namespace het {
namespace {

Status infer_roi_pooling(InferContext& context) {
  const Attributes& attributes = context.attributes();
  HET_TRY(check_attributes(attributes, {{"pooled_h", AttributeType::Int, true},
                                        {"pooled_w", AttributeType::Int, true},
                                        {"spatial_scale", AttributeType::Float, true},
                                        {"method", AttributeType::String}}));
  HET_TRY(check_input(context, 0, "feature_maps", kFloatTypes));
  HET_TRY(check_input(context, 1, "rois", kFloatTypes));
  const std::string method = attributes.get_string("method", "max");
  if (method != "max" && method != "bilinear") {
    return error(StatusCode::InvalidArgument, "method is '{}', but must be max or bilinear",
                 method);
  }
  const int64_t height = attributes.get_int("pooled_h", 0);
  const int64_t width = attributes.get_int("pooled_w", 0);
  const Shape& x = context.shape(0);
  const Shape& rois = context.shape(1);
  if (height < 1 || width < 1 || x.size() != 4 || rois.size() != 2 || rois[1] != 5 ||
      (rois[0] > 0 && (x[2] == 0 || x[3] == 0))) {
    return error(StatusCode::ShapeMismatch,
                 "feature_maps have shape {}, rois {} and pooled_h x pooled_w is {} x {}, but they "
                 "must have [n, c, h, w] with pixels, [regions, 5] and 1 or more",
                 to_string(x), to_string(rois), height, width);
  }
  Shape shape{rois[0], x[1], height, width};
  HET_TRY(checked_element_count(shape));
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// One dimension of a bin: whole pixels [begin, end), or a position between two pixels.
struct Bin {
  int64_t begin = 0;
  int64_t end = 0;
  double fraction = 0;   ///< of the pixel `end` (bilinear)
  bool outside = false;  ///< bilinear: the bin is 0
};

Bin max_bin(double from, double to, double scale, int64_t bin, int64_t bins, int64_t size) {
  const double start = std::round(from * scale);
  const double length = std::max(std::round(to * scale) - start + 1, 1.0);
  const double step = length / static_cast<double>(bins);
  const auto limit = [size](double position) {
    return static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(size)));
  };
  return {limit(std::floor(static_cast<double>(bin) * step) + start),
          limit(std::ceil(static_cast<double>(bin + 1) * step) + start)};
}

Bin bilinear_bin(double from, double to, int64_t bin, int64_t bins, int64_t size) {
  const auto last = static_cast<double>(size - 1);
  double position = (from + to) / 2 * last;
  if (bins > 1) {
    const double step = (to - from) * last / static_cast<double>(bins - 1);
    position = bin == bins - 1 ? to * last : from * last + static_cast<double>(bin) * step;
  }
  if (!(position >= 0 && position <= last)) return {0, 0, 0, true};
  const auto low = static_cast<int64_t>(position);
  return {low, std::min(low + 1, size - 1), position - static_cast<double>(low)};
}

template <class T>
double largest_of(const T* plane, int64_t width, const Bin& y, const Bin& x) {
  if (y.begin >= y.end || x.begin >= x.end) return 0;
  auto largest = static_cast<double>(plane[y.begin * width + x.begin]);
  for (int64_t row = y.begin; row < y.end; ++row) {
    for (int64_t column = x.begin; column < x.end; ++column) {
      const auto value = static_cast<double>(plane[row * width + column]);
      if (is_larger(value, largest)) largest = value;
    }
  }
  return largest;
}

template <class T>
double interpolated(const T* plane, int64_t width, const Bin& y, const Bin& x) {
  if (y.outside || x.outside) return 0;
  const auto row = [&](int64_t at) {
    const auto left = static_cast<double>(plane[at * width + x.begin]);
    const auto right = static_cast<double>(plane[at * width + x.end]);
    return left + (right - left) * x.fraction;
  };
  const double top = row(y.begin);
  return top + (row(y.end) - top) * y.fraction;
}

/// max: the largest pixel of each bin of a region in pixels times spatial_scale, 0 for a bin
/// without pixels. bilinear: the picture at evenly spaced points of a region in parts of the
/// picture, its borders included; 0 outside. Regions behind the end mark give 0. In double.
/// docs.openvino.ai, operation specification ROIPooling-1.
Status evaluate_roi_pooling(EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  const Tensor& x = context.input(0);
  const Shape& shape = context.output(0).shape();
  HET_ASSIGN(const std::vector<Region> regions, read_regions(context.input(1), x.shape()[0]));
  const bool max = attributes.get_string("method", "max") == "max";
  const auto scale = static_cast<double>(attributes.get_float("spatial_scale", 1));
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const std::span<T> output = context.output(0).values<T>();
    T* dst = output.data();
    for (const Region& region : regions) {
      const T* image = x.data<T>() + region.image * shape[1] * height * width;
      for (int64_t c = 0; c < shape[1]; ++c) {
        const T* plane = image + c * height * width;
        for (int64_t by = 0; by < shape[2]; ++by) {
          const Bin y = max ? max_bin(region.y_min, region.y_max, scale, by, shape[2], height)
                            : bilinear_bin(region.y_min, region.y_max, by, shape[2], height);
          for (int64_t bx = 0; bx < shape[3]; ++bx) {
            const Bin column = max ? max_bin(region.x_min, region.x_max, scale, bx, shape[3], width)
                                   : bilinear_bin(region.x_min, region.x_max, bx, shape[3], width);
            *dst++ = numeric_cast<T>(max ? largest_of(plane, width, y, column)
                                         : interpolated(plane, width, y, column));
          }
        }
      }
    }
    std::fill(dst, output.data() + output.size(), numeric_cast<T>(0.0));
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_roi_pooling(OpRegistry& registry) {
  registry.add({"ROIPooling", "het", 1, 2, 2, infer_roi_pooling, evaluate_roi_pooling});
}

}  // namespace het
