#include "inference/ops/elementwise/cast.h"

#include <cmath>
#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/strided_copy.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status check_cast(const InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kAllTypes));
  HET_TRY(cast_settings(context.attributes()));
  return {};
}

Status infer_cast(InferContext& context) {
  HET_TRY(check_cast(context));
  HET_TRY(check_attributes(context.attributes(), {{"to", AttributeType::Int, true}}));
  HET_ASSIGN(const ElementType to, element_type_from_onnx(context.attributes().get_int("to", 0)));
  context.set_output(0, to, context.shape(0));
  return {};
}

Status infer_cast_like(InferContext& context) {
  HET_TRY(check_input(context, 1, "target_type", kAllTypes));
  HET_TRY(check_cast(context));
  context.set_output(0, context.type(1), context.shape(0));
  return {};
}

Status evaluate_cast(EvaluateContext& context) {
  HET_ASSIGN(const CastSettings settings, cast_settings(context.attributes()));
  return cast_elements(context.input(0), context.output(0), settings);
}

uint8_t nibble(const Tensor& tensor, int64_t i) {
  return static_cast<uint8_t>(load_integer(
      tensor.bytes(), bit_width(tensor.type()) == 4 ? ElementType::UInt4 : ElementType::UInt8, i));
}

/// A narrow type's values in a type that holds them all: float32 or int8 or uint8.
Result<Tensor> widen(const Tensor& src) {
  const int64_t count = src.element_count();
  if (is_narrow_float(src.type())) {
    HET_ASSIGN(Tensor wide, Tensor::allocate({ElementType::Float32, src.shape()}));
    float* dst = wide.data<float>();
    for (int64_t i = 0; i < count; ++i) dst[i] = narrow_to_float(src.type(), nibble(src, i));
    return wide;
  }
  const bool is_signed = src.type() == ElementType::Int4 || src.type() == ElementType::Int2;
  const ElementType type = is_signed ? ElementType::Int8 : ElementType::UInt8;
  HET_ASSIGN(Tensor wide, Tensor::allocate({type, src.shape()}));
  for (int64_t i = 0; i < count; ++i) {
    store_integer(wide.bytes(), type, i, load_integer(src.bytes(), src.type(), i));
  }
  return wide;
}

/// Into types of less than a byte and narrow floats. Only the former round floats to nearest even
/// integers (ONNX, "2 bit integer types" and "4 bit integer types"); wider integers truncate.
Status narrow(const Tensor& src, Tensor& dst, const CastSettings& settings) {
  const bool to_float = is_narrow_float(dst.type());
  // Whatever the source is, double holds what a narrow float can tell apart.
  const bool as_double = to_float || is_float(src.type());
  HET_ASSIGN(Tensor wide, Tensor::allocate({as_double ? ElementType::Float64 : ElementType::Int64,
                                            src.shape()}));
  HET_TRY(cast_elements(src, wide));
  const ElementType stored = !to_float                    ? dst.type()
                             : bit_width(dst.type()) == 4 ? ElementType::UInt4
                                                          : ElementType::UInt8;
  if (dst.size_bytes() > 0) std::memset(dst.bytes(), 0, dst.size_bytes());
  for (int64_t i = 0; i < src.element_count(); ++i) {
    const double real = as_double ? wide.data<double>()[i] : 0.0;
    store_integer(dst.bytes(), stored, i,
                  to_float ? float_to_narrow(dst.type(), real, settings.saturate, settings.rounding)
                  : as_double ? numeric_cast<int64_t>(std::nearbyint(real))
                              : wide.data<int64_t>()[i]);
  }
  return {};
}

}  // namespace

Result<CastSettings> cast_settings(const Attributes& attributes) {
  HET_TRY(check_attributes(
      attributes, {{"saturate", AttributeType::Int}, {"round_mode", AttributeType::String}}));
  CastSettings settings;
  settings.saturate = attributes.get_int("saturate", 1) != 0;
  const std::string mode = attributes.get_string("round_mode", "up");
  if (mode == "down") {
    settings.rounding = PowerRounding::Down;
  } else if (mode == "nearest") {
    settings.rounding = PowerRounding::Nearest;
  } else if (mode != "up") {
    return error(StatusCode::InvalidArgument, "round_mode is '{}', but must be up, down or nearest",
                 mode);
  }
  return settings;
}

Status cast_elements(const Tensor& src, Tensor& dst, const CastSettings& settings) {
  if (src.element_count() != dst.element_count()) {
    return error(StatusCode::ShapeMismatch, "cannot cast {} into {}", to_string(src.desc()),
                 to_string(dst.desc()));
  }
  if (src.type() == dst.type()) {
    copy_elements(src, dst);
    return {};
  }
  if (!kNumbersAndBool.contains(src.type())) {
    HET_ASSIGN(const Tensor wide, widen(src));
    return cast_elements(wide, dst, settings);
  }
  if (!kNumbersAndBool.contains(dst.type())) return narrow(src, dst, settings);
  return dispatch_numeric_or_bool(src.type(), [&]<class From>() -> Status {
    return dispatch_numeric_or_bool(dst.type(), [&]<class To>() -> Status {
      const std::span<const From> from = src.values<From>();
      To* to = dst.data<To>();
      for (size_t i = 0; i < from.size(); ++i) to[i] = numeric_cast<To>(from[i]);
      return {};
    });
  });
}

HET_REGISTRATION void register_cast(OpRegistry& registry) {
  registry.add({"Cast", "", 28, 1, 1, infer_cast, evaluate_cast});
  registry.add({"CastLike", "", 25, 2, 2, infer_cast_like, evaluate_cast});
}

}  // namespace het
