#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/quantisation/quantization.h"

namespace het {
namespace {

/// Along the axis, so that a sum of parts cannot overflow.
constexpr int64_t kMaxLength = INT32_MAX;

/// Inputs: y_scale, y_zero_point, then (tensor, scale, zero point) for each part.
Result<Shape> concatenated_shape(const InferContext& context) {
  const size_t count = context.input_count();
  if (count < 5 || (count - 2) % 3 != 0) {
    return error(StatusCode::ParseError,
                 "{} inputs are given, but there must be a scale and a zero point and then three "
                 "for each part",
                 count);
  }
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int, true}}));
  Shape shape;
  for (size_t i = 2; i < count; i += 3) {
    HET_TRY(check_quantized_input(context, i, "part"));
    const Shape& part = context.shape(i);
    HET_ASSIGN(const int64_t axis, normalize_axis(context.attributes().get_int("axis", 0),
                                                  static_cast<int64_t>(part.size())));
    const auto at = static_cast<size_t>(axis);
    if (i == 2) {
      shape = part;
      continue;
    }
    HET_TRY(check_same_type(context, 2, i));
    Shape aligned = part;
    if (aligned.size() == shape.size()) aligned[at] = shape[at];
    if (aligned != shape || part[at] > kMaxLength || shape[at] > kMaxLength) {
      return error(StatusCode::ShapeMismatch, "parts of shapes {} and {} do not join along axis {}",
                   to_string(context.shape(2)), to_string(part), axis);
    }
    shape[at] += part[at];
  }
  HET_TRY(checked_element_count(shape));
  return shape;
}

Status infer_qlinear_concat(InferContext& context) {
  HET_ASSIGN(Shape shape, concatenated_shape(context));
  HET_ASSIGN(const ElementType type, quantized_output_type(context, 0, context.type(2)));
  context.set_output(0, type, std::move(shape));
  return {};
}

/// Every part is brought to the output's scale: round((x - zero_point) * scale / y_scale).
Status evaluate_qlinear_concat(EvaluateContext& context) {
  Tensor& y = context.output(0);
  const int64_t axis = context.attributes().get_int("axis", 0);
  HET_ASSIGN(const AffineScale y_scale, affine_scale(context, 0));
  HET_ASSIGN(const AxisSplit whole, axis_split(y.shape(), axis));
  const IntegerRange range = integer_range(y.type());
  int64_t before = 0;
  for (size_t p = 2; p < context.input_count(); p += 3) {
    const Tensor& x = context.input(p);
    HET_ASSIGN(const AffineScale scale, affine_scale(context, p + 1));
    HET_ASSIGN(const AxisSplit part, axis_split(x.shape(), axis));
    const int64_t run = part.length * part.inner;
    for (int64_t i = 0; i < x.element_count(); ++i) {
      const int64_t dst = i / run * whole.length * whole.inner + before * whole.inner + i % run;
      const float value = scale.real(load_integer(x.bytes(), x.type(), i)) / y_scale.scale;
      store_integer(y.bytes(), y.type(), dst,
                    saturate_quantized(value, y_scale.zero_point, range.lowest, range.highest));
    }
    before += part.length;
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_qlinear_concat(OpRegistry& registry) {
  registry.add({"QLinearConcat", "com.microsoft", 1, 5, kVariadic, infer_qlinear_concat,
                evaluate_qlinear_concat});
}

}  // namespace het
