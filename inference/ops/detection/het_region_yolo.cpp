#include <algorithm>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

struct RegionAttributes {
  int64_t classes = 0;
  int64_t coords = 0;
  int64_t regions = 0;  ///< num, or without softmax the length of mask
  bool softmax = true;
  Shape output_shape;

  int64_t entries() const { return coords + 1 + classes; }
};

Result<RegionAttributes> region_attributes(const Attributes& attributes, const Shape& x) {
  HET_TRY(check_attributes(attributes, {{"anchors", AttributeType::Floats},
                                        {"axis", AttributeType::Int},
                                        {"coords", AttributeType::Int, true},
                                        {"classes", AttributeType::Int, true},
                                        {"end_axis", AttributeType::Int},
                                        {"num", AttributeType::Int},
                                        {"do_softmax", AttributeType::Int},
                                        {"mask", AttributeType::Ints}}));
  RegionAttributes region;
  region.classes = attributes.get_int("classes", 0);
  region.coords = attributes.get_int("coords", 0);
  region.softmax = attributes.get_int("do_softmax", 1) != 0;
  region.regions = region.softmax ? attributes.get_int("num", 0)
                                  : static_cast<int64_t>(attributes.get_ints("mask").size());
  constexpr int64_t kLimit = 1 << 24;
  if (x.size() != 4 || region.coords < 2 || region.coords > kLimit || region.classes < 0 ||
      region.classes > kLimit || region.regions < 0 || region.regions > kLimit) {
    return error(StatusCode::InvalidArgument,
                 "data has shape {} with {} regions of {} coords and {} classes, but needs rank 4, "
                 "2 coords or more and no negative numbers",
                 to_string(x), region.regions, region.coords, region.classes);
  }
  const int64_t channels = region.regions * region.entries();
  if (region.softmax ? x[1] != channels : x[1] < channels) {
    return error(StatusCode::ShapeMismatch,
                 "data has shape {}, but {} regions of {} coords and {} classes need {} channels",
                 to_string(x), region.regions, region.coords, region.classes, channels);
  }
  if (!region.softmax) {
    region.output_shape = {x[0], channels, x[2], x[3]};
    return region;
  }
  HET_ASSIGN(const int64_t axis, normalize_axis(attributes.get_int("axis", 1), 4, "axis"));
  HET_ASSIGN(const int64_t end, normalize_axis(attributes.get_int("end_axis", 3), 4, "end_axis"));
  if (end < axis) {
    return error(StatusCode::InvalidArgument, "axis is {} and end_axis {}, but must not be before",
                 axis, end);
  }
  HET_ASSIGN(const int64_t flat, checked_element_count({x.begin() + axis, x.begin() + end + 1}));
  region.output_shape.assign(x.begin(), x.begin() + axis);
  region.output_shape.push_back(flat);
  region.output_shape.insert(region.output_shape.end(), x.begin() + end + 1, x.end());
  return region;
}

Status infer_region_yolo(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kFloatTypes));
  HET_ASSIGN(RegionAttributes region, region_attributes(context.attributes(), context.shape(0)));
  context.set_output(0, context.type(0), std::move(region.output_shape));
  return {};
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// One region of `area` cells; entry e of cell i lies at e * area + i.
template <class T>
void evaluate_region(const RegionAttributes& region, const T* src, T* dst, int64_t area) {
  for (int64_t entry = 0; entry < region.entries(); ++entry) {
    const bool logistic =
        entry < 2 || entry == region.coords || (!region.softmax && entry > region.coords);
    for (int64_t i = entry * area; i < (entry + 1) * area; ++i) {
      dst[i] = logistic ? numeric_cast<T>(sigmoid(static_cast<double>(src[i]))) : src[i];
    }
  }
  if (!region.softmax || region.classes == 0) return;
  for (int64_t i = 0; i < area; ++i) {
    const T* logits = src + (region.coords + 1) * area + i;
    T* scores = dst + (region.coords + 1) * area + i;
    auto largest = static_cast<double>(logits[0]);
    for (int64_t c = 1; c < region.classes; ++c) {
      largest = std::max(largest, static_cast<double>(logits[c * area]));
    }
    double sum = 0;
    for (int64_t c = 0; c < region.classes; ++c) {
      sum += std::exp(static_cast<double>(logits[c * area]) - largest);
    }
    for (int64_t c = 0; c < region.classes; ++c) {
      scores[c * area] =
          numeric_cast<T>(std::exp(static_cast<double>(logits[c * area]) - largest) / sum);
    }
  }
}

/// The logistic function of a region's x, y and objectness; of its classes too, or their softmax.
/// Width, height and further coordinates stay. In double.
/// docs.openvino.ai, operation specification RegionYolo-1; YOLO9000 (arXiv 1612.08242).
Status evaluate_region_yolo(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const RegionAttributes region, region_attributes(context.attributes(), x.shape()));
  const int64_t area = x.shape()[2] * x.shape()[3];
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    T* dst = context.output(0).data<T>();
    for (int64_t image = 0; image < x.shape()[0]; ++image) {
      const T* src = x.data<T>() + image * x.shape()[1] * area;
      for (int64_t r = 0; r < region.regions; ++r) {
        evaluate_region(region, src, dst, area);
        src += region.entries() * area;
        dst += region.entries() * area;
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_region_yolo(OpRegistry& registry) {
  registry.add({"RegionYolo", "het", 1, 1, 1, infer_region_yolo, evaluate_region_yolo});
}

}  // namespace het
