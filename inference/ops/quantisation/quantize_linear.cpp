#include "inference/base/registration.h"
#include "inference/ops/narrow_float.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/quantisation/quantization.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

/// Types that divisions and products are rounded to.
constexpr TypeSet kRealTypes{ElementType::Float32, ElementType::Float16, ElementType::BFloat16};
constexpr TypeSet kScaleTypes = kRealTypes | TypeSet{ElementType::Float8E8M0};
constexpr TypeSet kQuantizedTypes{
    ElementType::Int2,           ElementType::UInt2,      ElementType::Int4,
    ElementType::UInt4,          ElementType::Int8,       ElementType::UInt8,
    ElementType::Int16,          ElementType::UInt16,     ElementType::Int32,
    ElementType::Float8E4M3FN,   ElementType::Float8E5M2, ElementType::Float8E4M3FNUZ,
    ElementType::Float8E5M2FNUZ, ElementType::Float4E2M1};

/// The integer type with the same bits as a narrow float.
ElementType bits_type(ElementType type) {
  return bit_width(type) == 4 ? ElementType::UInt4 : ElementType::UInt8;
}

/// Stored element `i` of an integer or narrow float tensor.
double load_stored(const Tensor& tensor, int64_t i) {
  if (!is_narrow_float(tensor.type())) {
    return static_cast<double>(load_integer(tensor.bytes(), tensor.type(), i));
  }
  const int64_t bits = load_integer(tensor.bytes(), bits_type(tensor.type()), i);
  return static_cast<double>(narrow_to_float(tensor.type(), static_cast<uint8_t>(bits)));
}

/// Content of the zero point, or zeros.
std::vector<double> stored_zero_points(const EvaluateContext& context) {
  std::vector<double> values(static_cast<size_t>(context.input(1).element_count()));
  for (size_t i = 0; i < values.size() && context.has_input(2); ++i) {
    values[i] = load_stored(context.input(2), static_cast<int64_t>(i));
  }
  return values;
}

/// Content of the scale.
Result<std::vector<float>> scale_values(const EvaluateContext& context) {
  const Tensor& scale = context.input(1);
  if (scale.type() != ElementType::Float8E8M0) return scales(context, 1);
  std::vector<float> values;
  for (int64_t i = 0; i < scale.element_count(); ++i) {
    values.push_back(static_cast<float>(load_stored(scale, i)));
  }
  return values;
}

Status check_quantization(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int},
                                                  {"block_size", AttributeType::Int},
                                                  {"output_dtype", AttributeType::Int},
                                                  {"precision", AttributeType::Int},
                                                  {"saturate", AttributeType::Int}}));
  HET_TRY(check_input(context, 1, "scale", kScaleTypes));
  HET_TRY(check_optional_input(context, 2, "zero_point", kQuantizedTypes));
  if (context.has_input(2) && element_count(context.shape(2)) != element_count(context.shape(1))) {
    return error(StatusCode::ShapeMismatch, "the zero point has shape {}, the scale {}",
                 to_string(context.shape(2)), to_string(context.shape(1)));
  }
  HET_TRY(quantization_grid(context.node(), context.shape(0), context.shape(1)));
  return {};
}

/// The type that an attribute names, or `fallback` when it is absent or 0.
Result<ElementType> type_attribute(const InferContext& context, std::string_view name,
                                   ElementType fallback, TypeSet allowed) {
  const int64_t code = context.attributes().get_int(name, 0);
  if (code == 0) return fallback;
  HET_ASSIGN(const ElementType type, element_type_from_onnx(code));
  if (!allowed.contains(type)) {
    return error(StatusCode::NotSupported, "{} is {}, which is not supported", name,
                 to_string(type));
  }
  return type;
}

Status infer_quantize_linear(InferContext& context) {
  HET_TRY(check_input(context, 0, "x", kRealTypes | TypeSet{ElementType::Int32}));
  HET_TRY(check_quantization(context));
  const bool typed = context.has_input(2);
  HET_ASSIGN(const ElementType type,
             type_attribute(context, "output_dtype", typed ? context.type(2) : ElementType::UInt8,
                            kQuantizedTypes));
  if (typed && type != context.type(2)) {
    return error(StatusCode::InvalidArgument, "output_dtype is {}, but the zero point is {}",
                 to_string(type), to_string(context.type(2)));
  }
  HET_TRY(type_attribute(context, "precision", context.type(1), kRealTypes));
  context.set_output(0, type, context.shape(0));
  return {};
}

float round_to(ElementType type, float value) {
  if (type == ElementType::Float16) return static_cast<float>(Float16(value));
  if (type == ElementType::BFloat16) return static_cast<float>(BFloat16(value));
  return value;
}

/// round(x / scale) + zero_point; the division rounds to `precision`, or to the scale's type.
Status evaluate_quantize_linear(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  HET_ASSIGN(const QuantizationGrid grid,
             quantization_grid(context.node(), x.shape(), context.input(1).shape()));
  HET_ASSIGN(const std::vector<float> scale, scale_values(context));
  const std::vector<double> zero_point = stored_zero_points(context);
  ElementType precision = context.input(1).type();
  if (const int64_t code = context.attributes().get_int("precision", 0); code != 0) {
    HET_ASSIGN(precision, element_type_from_onnx(code));
  }
  const bool saturate = context.attributes().get_int("saturate", 1) != 0;
  const ElementType type = y.type();
  const auto store = [&](int64_t i, float quotient, double zero) {
    if (is_narrow_float(type)) {
      const double shifted = static_cast<double>(quotient) + zero;
      store_integer(y.bytes(), bits_type(type), i, float_to_narrow(type, shifted, saturate));
    } else {
      const IntegerRange range = integer_range(type);
      store_integer(
          y.bytes(), type, i,
          saturate_quantized(quotient, static_cast<int64_t>(zero), range.lowest, range.highest));
    }
  };
  return dispatch_numeric(x.type(), [&]<class T>() -> Status {
    const T* src = x.data<T>();
    for (int64_t i = 0; i < x.element_count(); ++i) {
      const auto s = static_cast<size_t>(grid.scale_index(i));
      const float value = round_to(precision, static_cast<float>(src[i]));
      store(i, round_to(precision, value / round_to(precision, scale[s])), zero_point[s]);
    }
    return {};
  });
}

Status infer_dequantize_linear(InferContext& context) {
  HET_TRY(check_input(context, 0, "x", kQuantizedTypes));
  HET_TRY(check_quantization(context));
  if (context.has_input(2)) HET_TRY(check_same_type(context, 0, 2));
  HET_ASSIGN(const ElementType type,
             type_attribute(context, "output_dtype", context.type(1), kRealTypes));
  if (!kRealTypes.contains(type)) {
    return error(StatusCode::InvalidArgument,
                 "the scale is {}, which cannot be the output's type; output_dtype must name one",
                 to_string(type));
  }
  context.set_output(0, type, context.shape(0));
  return {};
}

/// (x - zero_point) * scale: the difference is exact, the product is computed in float.
Status evaluate_dequantize_linear(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  HET_ASSIGN(const QuantizationGrid grid,
             quantization_grid(context.node(), x.shape(), context.input(1).shape()));
  HET_ASSIGN(const std::vector<float> scale, scale_values(context));
  const std::vector<double> zero_point = stored_zero_points(context);
  return dispatch_float(y.type(), [&]<class T>() -> Status {
    T* dst = y.data<T>();
    for (int64_t i = 0; i < x.element_count(); ++i) {
      const auto s = static_cast<size_t>(grid.scale_index(i));
      const double distance = load_stored(x, i) - zero_point[s];
      dst[i] = numeric_cast<T>(static_cast<float>(distance) * scale[s]);
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_quantize_linear(OpRegistry& registry) {
  for (const std::string_view domain : {"", "com.microsoft"}) {
    registry.add(
        {"QuantizeLinear", domain, 25, 2, 3, infer_quantize_linear, evaluate_quantize_linear});
    registry.add({"DequantizeLinear", domain, 25, 2, 3, infer_dequantize_linear,
                  evaluate_dequantize_linear});
  }
}

}  // namespace het
