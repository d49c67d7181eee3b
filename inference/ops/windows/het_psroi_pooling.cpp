#include <algorithm>
#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/detection/het_region.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

constexpr int64_t kMaxBins = 1024;

/// Attributes of PSROIPooling-1 and DeformablePSROIPooling-1 and the sizes that follow.
struct PsroiAttributes {
  int64_t channels = 0;  ///< output_dim
  int64_t group = 1;     ///< bins of the output per dimension
  int64_t bins_x = 1;    ///< parts of a region (bilinear) or of a bin (deformable)
  int64_t bins_y = 1;
  int64_t part = 1;
  double scale = 1;
  double offset_scale = 1;  ///< trans_std
  bool bilinear = false;
  Shape output_shape;
};

Result<PsroiAttributes> psroi_attributes(const Attributes& attributes, const Shape& x,
                                         const Shape& rois, bool deformable) {
  HET_TRY(check_attributes(attributes, {{"output_dim", AttributeType::Int, true},
                                        {"group_size", AttributeType::Int},
                                        {"spatial_scale", AttributeType::Float, true},
                                        {"mode", AttributeType::String},
                                        {"spatial_bins_x", AttributeType::Int},
                                        {"spatial_bins_y", AttributeType::Int},
                                        {"trans_std", AttributeType::Float},
                                        {"part_size", AttributeType::Int}}));
  PsroiAttributes psroi;
  psroi.channels = attributes.get_int("output_dim", 0);
  psroi.group = attributes.get_int("group_size", 1);
  psroi.bins_x = attributes.get_int("spatial_bins_x", 1);
  psroi.bins_y = attributes.get_int("spatial_bins_y", 1);
  psroi.part = attributes.get_int("part_size", 1);
  psroi.scale = static_cast<double>(attributes.get_float("spatial_scale", 1));
  psroi.offset_scale = static_cast<double>(attributes.get_float("trans_std", 1));
  const std::string mode =
      attributes.get_string("mode", deformable ? "bilinear_deformable" : "average");
  psroi.bilinear = mode == "bilinear";
  const bool known =
      deformable ? mode == "bilinear_deformable" : mode == "average" || psroi.bilinear;
  if (!known) {
    return error(StatusCode::InvalidArgument, "mode is '{}', but must be {}", mode,
                 deformable ? "bilinear_deformable" : "average or bilinear");
  }
  for (const int64_t bins : {psroi.group, psroi.bins_x, psroi.bins_y, psroi.part}) {
    if (bins >= 1 && bins <= kMaxBins) continue;
    return error(StatusCode::InvalidArgument,
                 "group_size is {}, spatial_bins_x {}, spatial_bins_y {} and part_size {}, but all "
                 "must be from 1 to {}",
                 psroi.group, psroi.bins_x, psroi.bins_y, psroi.part, kMaxBins);
  }
  const int64_t maps = psroi.bilinear ? psroi.bins_x * psroi.bins_y : psroi.group * psroi.group;
  int64_t wanted = 0;
  if (psroi.channels < 1 || x.size() != 4 || rois.size() != 2 || rois[1] != 5 ||
      __builtin_mul_overflow(psroi.channels, maps, &wanted) || x[1] != wanted ||
      (rois[0] > 0 && (x[2] == 0 || x[3] == 0))) {
    return error(StatusCode::ShapeMismatch,
                 "feature maps have shape {} and rois {}, but {} output channels of {} maps each "
                 "need [n, channels * maps, h, w] with pixels and [regions, 5]",
                 to_string(x), to_string(rois), psroi.channels, maps);
  }
  psroi.output_shape = {rois[0], psroi.channels, psroi.group, psroi.group};
  HET_TRY(checked_element_count(psroi.output_shape));
  return psroi;
}

Status infer_psroi_pooling(InferContext& context) {
  HET_TRY(check_input(context, 0, "feature_maps", kFloatTypes));
  HET_TRY(check_input(context, 1, "rois", kFloatTypes));
  HET_ASSIGN(PsroiAttributes psroi,
             psroi_attributes(context.attributes(), context.shape(0), context.shape(1), false));
  context.set_output(0, context.type(0), std::move(psroi.output_shape));
  return {};
}

Status infer_deformable(InferContext& context) {
  HET_TRY(check_input(context, 0, "feature_maps", kFloatTypes));
  HET_TRY(check_input(context, 1, "rois", kFloatTypes));
  HET_TRY(check_optional_input(context, 2, "offsets", kFloatTypes));
  HET_ASSIGN(PsroiAttributes psroi,
             psroi_attributes(context.attributes(), context.shape(0), context.shape(1), true));
  if (context.has_input(2)) {
    HET_TRY(check_same_type(context, 0, 2));
    const Shape& offsets = context.shape(2);
    if (offsets.size() != 4 || offsets[0] != context.shape(1)[0] || offsets[1] < 2 ||
        offsets[1] % 2 != 0 || psroi.channels % (offsets[1] / 2) != 0 || offsets[2] != psroi.part ||
        offsets[3] != psroi.part) {
      return error(StatusCode::ShapeMismatch,
                   "offsets have shape {}, but {} regions, {} channels and part_size {} need "
                   "[regions, 2 * a divisor of the channels, part_size, part_size]",
                   to_string(offsets), context.shape(1)[0], psroi.channels, psroi.part);
    }
  }
  context.set_output(0, context.type(0), std::move(psroi.output_shape));
  return {};
}

/// One dimension of a region: where its first bin starts and how long each is.
struct Span {
  double start = 0;
  double step = 0;
};

/// A picture of one channel.
template <class T>
struct Plane {
  const T* pixels;
  int64_t height;
  int64_t width;

  /// Between the pixels around a point of [0, height) x [0, width).
  double at(double y, double x) const {
    const auto top = static_cast<int64_t>(y);
    const auto left = static_cast<int64_t>(x);
    const int64_t bottom = std::min(top + 1, height - 1);
    const int64_t right = std::min(left + 1, width - 1);
    const auto row = [&](int64_t r) {
      const auto a = static_cast<double>(pixels[r * width + left]);
      const auto b = static_cast<double>(pixels[r * width + right]);
      return a + (b - a) * (x - static_cast<double>(left));
    };
    const double upper = row(top);
    return upper + (row(bottom) - upper) * (y - static_cast<double>(top));
  }
};

/// Pixels [begin, end) of a bin, inside the picture.
std::pair<int64_t, int64_t> pixels_of(const Span& span, int64_t bin, int64_t size) {
  const auto limit = [size](double position) {
    return static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(size)));
  };
  return {limit(std::floor(span.start + static_cast<double>(bin) * span.step)),
          limit(std::ceil(span.start + static_cast<double>(bin + 1) * span.step))};
}

template <class T>
double average(const Plane<T>& plane, const Span& y, const Span& x, int64_t by, int64_t bx) {
  const auto [top, bottom] = pixels_of(y, by, plane.height);
  const auto [left, right] = pixels_of(x, bx, plane.width);
  if (top >= bottom || left >= right) return 0;
  double sum = 0;
  for (int64_t row = top; row < bottom; ++row) {
    for (int64_t column = left; column < right; ++column) {
      sum += static_cast<double>(plane.pixels[row * plane.width + column]);
    }
  }
  return sum / static_cast<double>((bottom - top) * (right - left));
}

/// Point `i` of `count` in part `bin`, from border to border, of a region in parts of the picture.
double point_of(const Span& span, int64_t bin, int64_t i, int64_t count, int64_t size) {
  const double start = span.start + static_cast<double>(bin) * span.step;
  const double way = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0.5;
  return (start + way * span.step) * static_cast<double>(size - 1);
}

/// average: the mean of a bin's pixels in the channel that belongs to output channel and bin; 0
/// without pixels. bilinear: the mean over the parts of the region, each read in a channel of its
/// own at the bin's point; points outside count as 0. Regions behind the end mark give 0. In
/// double.
/// docs.openvino.ai, operation specification PSROIPooling-1; R-FCN (arXiv 1605.06409).
Status evaluate_psroi_pooling(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const PsroiAttributes psroi,
             psroi_attributes(context.attributes(), x.shape(), context.input(1).shape(), false));
  HET_ASSIGN(const std::vector<Region> regions, read_regions(context.input(1), x.shape()[0]));
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  const auto span = [&](double from, double to, int64_t bins) {
    if (psroi.bilinear) {
      return Span{from * psroi.scale, (to - from) * psroi.scale / static_cast<double>(bins)};
    }
    const double start = std::round(from) * psroi.scale;
    const double length = std::max((std::round(to) + 1) * psroi.scale - start, 0.1);
    return Span{start, length / static_cast<double>(psroi.group)};
  };
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const std::span<T> output = context.output(0).values<T>();
    T* dst = output.data();
    for (const Region& region : regions) {
      const Span across = span(region.x_min, region.x_max, psroi.bins_x);
      const Span down = span(region.y_min, region.y_max, psroi.bins_y);
      const auto plane = [&](int64_t channel) {
        return Plane<T>{x.data<T>() + (region.image * x.shape()[1] + channel) * height * width,
                        height, width};
      };
      for (int64_t c = 0; c < psroi.channels; ++c) {
        for (int64_t by = 0; by < psroi.group; ++by) {
          for (int64_t bx = 0; bx < psroi.group; ++bx) {
            if (!psroi.bilinear) {
              const int64_t channel = (c * psroi.group + by) * psroi.group + bx;
              *dst++ = numeric_cast<T>(average(plane(channel), down, across, by, bx));
              continue;
            }
            double sum = 0;
            for (int64_t part = 0; part < psroi.bins_x * psroi.bins_y; ++part) {
              const double row = point_of(down, part / psroi.bins_x, by, psroi.group, height);
              const double column = point_of(across, part % psroi.bins_x, bx, psroi.group, width);
              if (row >= 0 && column >= 0 && row < static_cast<double>(height) &&
                  column < static_cast<double>(width)) {
                sum += plane(part * psroi.channels + c).at(row, column);
              }
            }
            *dst++ = numeric_cast<T>(sum / static_cast<double>(psroi.bins_x * psroi.bins_y));
          }
        }
      }
    }
    std::fill(dst, output.data() + output.size(), numeric_cast<T>(0.0));
    return {};
  });
}

/// The mean of the samples of a bin, each bin in the channel that belongs to it and moved by
/// offsets in parts of the region's size; samples more than half a pixel outside do not count. In
/// double.
/// docs.openvino.ai, operation specification DeformablePSROIPooling-1; arXiv 1703.06211.
Status evaluate_deformable(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const PsroiAttributes psroi,
             psroi_attributes(context.attributes(), x.shape(), context.input(1).shape(), true));
  HET_ASSIGN(const std::vector<Region> regions, read_regions(context.input(1), x.shape()[0]));
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  const auto span = [&](double from, double to) {
    const double start = std::round(from) * psroi.scale - 0.5;
    const double length = std::max((std::round(to) + 1) * psroi.scale - 0.5 - start, 0.1);
    return Span{start, length / static_cast<double>(psroi.group)};
  };
  const auto outside = [](double position, int64_t size) {
    return !(position >= -0.5 && position <= static_cast<double>(size) - 0.5);
  };
  const auto inside = [](double position, int64_t size) {
    return std::clamp(position, 0.0, static_cast<double>(size - 1));
  };
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const std::span<T> output = context.output(0).values<T>();
    T* dst = output.data();
    for (size_t r = 0; r < regions.size(); ++r) {
      const Span across = span(regions[r].x_min, regions[r].x_max);
      const Span down = span(regions[r].y_min, regions[r].y_max);
      /// Offset of a bin along one dimension (0: x, 1: y), in pixels.
      const auto offset = [&](int64_t c, int64_t by, int64_t bx, int64_t dimension) {
        if (!context.has_input(2)) return 0.0;
        const int64_t classes = context.input(2).shape()[1] / 2;
        const int64_t map =
            (static_cast<int64_t>(r) * classes + c / (psroi.channels / classes)) * 2 + dimension;
        const int64_t row = by * psroi.part / psroi.group;
        const int64_t column = bx * psroi.part / psroi.group;
        const auto value = static_cast<double>(
            context.input(2).data<T>()[(map * psroi.part + row) * psroi.part + column]);
        return value * psroi.offset_scale * static_cast<double>(psroi.group) *
               (dimension == 0 ? across.step : down.step);
      };
      for (int64_t bin = 0; bin < psroi.channels * psroi.group * psroi.group; ++bin) {
        const int64_t c = bin / (psroi.group * psroi.group);
        const int64_t by = bin / psroi.group % psroi.group;
        const int64_t bx = bin % psroi.group;
        const double left =
            across.start + static_cast<double>(bx) * across.step + offset(c, by, bx, 0);
        const double top = down.start + static_cast<double>(by) * down.step + offset(c, by, bx, 1);
        const Plane<T> plane{x.data<T>() + (regions[r].image * x.shape()[1] + bin) * height * width,
                             height, width};
        double sum = 0;
        int64_t samples = 0;
        for (int64_t i = 0; i < psroi.bins_y; ++i) {
          const double row =
              top + static_cast<double>(i) * down.step / static_cast<double>(psroi.bins_y);
          if (outside(row, height)) continue;
          for (int64_t k = 0; k < psroi.bins_x; ++k) {
            const double column =
                left + static_cast<double>(k) * across.step / static_cast<double>(psroi.bins_x);
            if (outside(column, width)) continue;
            sum += plane.at(inside(row, height), inside(column, width));
            ++samples;
          }
        }
        *dst++ = numeric_cast<T>(samples == 0 ? 0.0 : sum / static_cast<double>(samples));
      }
    }
    std::fill(dst, output.data() + output.size(), numeric_cast<T>(0.0));
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_psroi_pooling(OpRegistry& registry) {
  registry.add({"PSROIPooling", "het", 1, 2, 2, infer_psroi_pooling, evaluate_psroi_pooling});
  registry.add({"DeformablePSROIPooling", "het", 1, 2, 3, infer_deformable, evaluate_deformable});
}

}  // namespace het
