#include "inference/ops/windows/resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

/// Index of an attribute's value among its names; the first is the default.
Result<size_t> choice(const Attributes& attributes, std::string_view attribute,
                      std::initializer_list<std::string_view> names) {
  const std::string value = attributes.get_string(attribute, *names.begin());
  const auto* it = std::find(names.begin(), names.end(), value);
  if (it != names.end()) return static_cast<size_t>(it - names.begin());
  std::string valid;
  for (const std::string_view name : names) {
    valid += valid.empty() ? "" : ", ";
    valid += name;
  }
  return error(StatusCode::InvalidArgument, "{} is '{}', but must be one of {}", attribute, value,
               valid);
}

/// An optional input counts as omitted when it has no elements: older files write it so.
bool is_given(const Tensor* tensor) {
  return tensor != nullptr && tensor->element_count() > 0;
}

Status apply_scales(const std::vector<float>& scales, const std::vector<int64_t>& axes,
                    std::vector<ResizeDim>& dims) {
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeDim& dim = dims[static_cast<size_t>(axes[i])];
    // Rounded like ONNX' shape inference does, in float: 10 * 0.7f is 7.
    const float length = std::floor(static_cast<float>(dim.in) * scales[i]);
    if (!(scales[i] > 0) || !(length < 0x1p62f)) {
      return error(StatusCode::InvalidArgument, "scale {} of axis {} is not usable for length {}",
                   scales[i], axes[i], dim.in);
    }
    dim.scale = scales[i];
    dim.out = static_cast<int64_t>(length);
    dim.exact_out = dim.scale * static_cast<double>(dim.in);
  }
  return {};
}

Status apply_sizes(const std::vector<int64_t>& sizes, const std::vector<int64_t>& axes,
                   ResizeAspect aspect, std::vector<ResizeDim>& dims) {
  double shared_scale = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeDim& dim = dims[static_cast<size_t>(axes[i])];
    if (sizes[i] < 0 || (sizes[i] > 0 && dim.in == 0)) {
      return error(StatusCode::InvalidArgument, "axis {} of length {} cannot get size {}", axes[i],
                   dim.in, sizes[i]);
    }
    dim.out = sizes[i];
    dim.exact_out = static_cast<double>(dim.out);
    dim.scale = dim.in == 0 ? 1 : dim.exact_out / static_cast<double>(dim.in);
    if (i == 0) shared_scale = dim.scale;
    shared_scale = aspect == ResizeAspect::NotLarger ? std::min(shared_scale, dim.scale)
                                                     : std::max(shared_scale, dim.scale);
  }
  if (aspect == ResizeAspect::Stretch) return {};
  for (const int64_t axis : axes) {
    ResizeDim& dim = dims[static_cast<size_t>(axis)];
    dim.scale = shared_scale;
    dim.exact_out = shared_scale * static_cast<double>(dim.in);
    if (!(dim.exact_out < 0x1p62)) {
      return error(StatusCode::InvalidArgument, "axis {} of length {} would get length {}", axis,
                   dim.in, dim.exact_out);
    }
    dim.out = static_cast<int64_t>(std::floor(dim.exact_out + 0.5));
  }
  return {};
}

Status check_length(const Tensor& tensor, size_t expected, std::string_view name) {
  if (tensor.rank() == 1 && tensor.element_count() == static_cast<int64_t>(expected)) return {};
  return error(StatusCode::ShapeMismatch, "{} has shape {}, but must have {} values", name,
               to_string(tensor.shape()), expected);
}

Status infer_resize(InferContext& context) {
  HET_ASSIGN(const ResizeSettings settings, resize_settings(context.attributes()));
  HET_TRY(check_input(context, 0, "X",
                      settings.mode == ResizeInterpolation::Nearest ? kWholeByteTypes : kNumbers));
  HET_TRY(check_optional_input(context, 1, "roi", kFloatTypes));
  HET_TRY(check_optional_input(context, 2, "scales", TypeSet{ElementType::Float32}));
  HET_TRY(check_optional_input(context, 3, "sizes", kIndexTypes));
  const auto known = [&](size_t i) { return !context.has_input(i) || context.constant(i); };
  if (!known(2) || !known(3)) {
    context.set_output(0, context.type(0), unknown_shape(context.rank(0)));
    return {};
  }
  HET_ASSIGN(const auto dims, resize_dims(settings, context.shape(0), context.constant(1),
                                          context.constant(2), context.constant(3)));
  Shape shape;
  for (const ResizeDim& dim : dims) shape.push_back(dim.out);
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Marks the outputs of a crop that lie outside the input in any dimension.
std::vector<bool> outside_mask(const Shape& shape, const std::vector<ResizeTaps>& taps) {
  std::vector<bool> mask(static_cast<size_t>(element_count(shape)));
  std::vector<size_t> position(shape.size());
  for (size_t i = 0; i < mask.size(); ++i) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!taps[d].outside.empty() && taps[d].outside[position[d]]) mask[i] = true;
    }
    for (size_t d = shape.size(); d-- > 0;) {
      if (++position[d] < static_cast<size_t>(shape[d])) break;
      position[d] = 0;
    }
  }
  return mask;
}

/// Resizes along dimension d: [outer, in, inner] -> [outer, out, inner].
template <class T>
std::vector<T> resize_dim(const std::vector<T>& src, int64_t outer, const ResizeDim& dim,
                          int64_t inner, const ResizeTaps& taps, bool weighted) {
  std::vector<T> dst(static_cast<size_t>(outer * dim.out * inner));
  T* to = dst.data();
  for (int64_t n = 0; n < outer; ++n) {
    const T* plane = src.data() + n * dim.in * inner;
    for (size_t out = 0; out < static_cast<size_t>(dim.out); ++out) {
      const size_t first = out * taps.taps;
      for (int64_t i = 0; i < inner; ++i) {
        if (!weighted) {
          *to++ = plane[taps.index[first] * inner + i];
          continue;
        }
        if constexpr (std::is_same_v<T, double>) {
          double sum = 0;
          for (size_t t = first; t < first + taps.taps; ++t) {
            // A weight of zero must not turn an infinity elsewhere into NaN.
            if (taps.weight[t] != 0) sum += taps.weight[t] * plane[taps.index[t] * inner + i];
          }
          *to++ = sum;
        }
      }
    }
  }
  return dst;
}

/// All dimensions in turn; those that pass unchanged are skipped.
template <class T>
std::vector<T> resize_all(std::vector<T> values, const std::vector<ResizeDim>& dims,
                          const std::vector<ResizeTaps>& taps, bool weighted) {
  Shape shape;
  for (const ResizeDim& dim : dims) shape.push_back(dim.in);
  for (size_t d = 0; d < dims.size(); ++d) {
    if (taps[d].index.empty()) continue;
    const std::span<const int64_t> current = shape;
    values = resize_dim(values, element_count(current.first(d)), dims[d],
                        element_count(current.subspan(d + 1)), taps[d], weighted);
    shape[d] = dims[d].out;
  }
  return values;
}

template <class T>
T rounded(double value) {
  if constexpr (std::is_integral_v<T>) return numeric_cast<T>(std::nearbyint(value));
  return numeric_cast<T>(value);
}

Status evaluate_resize(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  if (y.element_count() == 0) return {};
  HET_ASSIGN(const ResizeSettings settings, resize_settings(context.attributes()));
  HET_ASSIGN(const auto dims, resize_dims(settings, x.shape(), optional_input(context, 1),
                                          optional_input(context, 2), optional_input(context, 3)));
  std::vector<ResizeTaps> taps;
  bool crops = false;
  for (const ResizeDim& dim : dims) {
    taps.push_back(dim.is_identity(settings.coordinates) ? ResizeTaps()
                                                         : resize_taps(settings, dim));
    crops = crops || std::find(taps.back().outside.begin(), taps.back().outside.end(), true) !=
                         taps.back().outside.end();
  }
  const std::vector<bool> mask = crops ? outside_mask(y.shape(), taps) : std::vector<bool>();

  if (settings.mode == ResizeInterpolation::Nearest) {
    HET_TRY(dispatch_width(x.type(), [&]<class T>() -> Status {
      const auto* src = reinterpret_cast<const T*>(x.bytes());
      const std::vector<T> values =
          resize_all(std::vector<T>(src, src + x.element_count()), dims, taps, false);
      std::memcpy(y.bytes(), values.data(), values.size() * sizeof(T));
      return {};
    }));
  }
  if (settings.mode == ResizeInterpolation::Nearest && !crops) return {};
  return dispatch_numeric_or_bool(x.type(), [&]<class T>() -> Status {
    const std::span<T> dst = y.values<T>();
    if (settings.mode != ResizeInterpolation::Nearest) {
      const std::span<const T> src = x.values<T>();
      const std::vector<double> values =
          resize_all(std::vector<double>(src.begin(), src.end()), dims, taps, true);
      for (size_t i = 0; i < dst.size(); ++i) dst[i] = rounded<T>(values[i]);
    }
    for (size_t i = 0; i < mask.size(); ++i) {
      if (mask[i]) dst[i] = rounded<T>(settings.extrapolation_value);
    }
    return {};
  });
}

}  // namespace

bool ResizeDim::is_identity(ResizeCoordinates coordinates) const {
  return in == out && scale == 1 &&
         (coordinates != ResizeCoordinates::TfCropAndResize || (roi_start == 0 && roi_end == 1));
}

Result<ResizeSettings> resize_settings(const Attributes& attributes) {
  HET_TRY(check_attributes(attributes, {{"mode", AttributeType::String},
                                        {"coordinate_transformation_mode", AttributeType::String},
                                        {"nearest_mode", AttributeType::String},
                                        {"keep_aspect_ratio_policy", AttributeType::String},
                                        {"cubic_coeff_a", AttributeType::Float},
                                        {"extrapolation_value", AttributeType::Float},
                                        {"exclude_outside", AttributeType::Int},
                                        {"antialias", AttributeType::Int},
                                        {"axes", AttributeType::Ints}}));
  ResizeSettings settings;
  HET_ASSIGN(const size_t mode, choice(attributes, "mode", {"nearest", "linear", "cubic"}));
  settings.mode = static_cast<ResizeInterpolation>(mode);
  HET_ASSIGN(const size_t coordinates,
             choice(attributes, "coordinate_transformation_mode",
                    {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                     "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"}));
  settings.coordinates = static_cast<ResizeCoordinates>(coordinates);
  HET_ASSIGN(const size_t rounding,
             choice(attributes, "nearest_mode",
                    {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}));
  settings.rounding = static_cast<ResizeRounding>(rounding);
  HET_ASSIGN(const size_t aspect, choice(attributes, "keep_aspect_ratio_policy",
                                         {"stretch", "not_larger", "not_smaller"}));
  settings.aspect = static_cast<ResizeAspect>(aspect);
  settings.cubic_a = attributes.get_float("cubic_coeff_a", -0.75f);
  settings.exclude_outside = attributes.get_int("exclude_outside", 0) != 0;
  settings.antialias = attributes.get_int("antialias", 0) != 0;
  settings.extrapolation_value = attributes.get_float("extrapolation_value", 0.0f);
  settings.axes = attributes.get_ints("axes");
  return settings;
}

Result<std::vector<ResizeDim>> resize_dims(const ResizeSettings& settings, const Shape& input,
                                           const Tensor* roi, const Tensor* scales,
                                           const Tensor* sizes) {
  std::vector<int64_t> axes(input.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (!settings.axes.empty()) {
    HET_ASSIGN(axes, normalize_axes(settings.axes, static_cast<int64_t>(input.size())));
  }
  std::vector<ResizeDim> dims(input.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    dims[d].in = dims[d].out = input[d];
    dims[d].exact_out = static_cast<double>(input[d]);
  }
  if (is_given(scales) == is_given(sizes)) {
    return error(StatusCode::ParseError,
                 "{} of the inputs scales and sizes {} given, but exactly "
                 "one must be",
                 is_given(scales) ? "both" : "none", is_given(scales) ? "are" : "is");
  }
  if (is_given(scales)) {
    HET_TRY(check_length(*scales, axes.size(), "scales"));
    HET_ASSIGN(const std::vector<float> values, to_float_vector(*scales));
    HET_TRY(apply_scales(values, axes, dims));
  } else {
    HET_TRY(check_length(*sizes, axes.size(), "sizes"));
    HET_ASSIGN(const std::vector<int64_t> values, to_int64_vector(*sizes));
    HET_TRY(apply_sizes(values, axes, settings.aspect, dims));
  }
  if (settings.coordinates == ResizeCoordinates::TfCropAndResize && roi != nullptr) {
    HET_TRY(check_length(*roi, 2 * axes.size(), "roi"));
    HET_ASSIGN(const std::vector<float> values, to_float_vector(*roi));
    for (size_t i = 0; i < axes.size(); ++i) {
      ResizeDim& dim = dims[static_cast<size_t>(axes[i])];
      dim.roi_start = values[i];
      dim.roi_end = values[axes.size() + i];
    }
  }
  return dims;
}

HET_REGISTRATION void register_resize(OpRegistry& registry) {
  registry.add({"Resize", "", 19, 1, 4, infer_resize, evaluate_resize});
}

}  // namespace het
