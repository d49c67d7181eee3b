#include "inference/ops/cast.h"

#include "inference/ops/numeric_cast.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status check_cast(const InferContext& context, ElementType to) {
  HET_TRY(check_input(context, 0, "input", kNumbersAndBool));
  HET_TRY(check_attributes(context.attributes(), {{"saturate", AttributeType::Int},
                                                  {"round_mode", AttributeType::String}}));
  if (!kNumbersAndBool.contains(to)) {
    return error(StatusCode::NotSupported, "casting {} to {} is not supported",
                 to_string(context.type(0)), to_string(to));
  }
  return {};
}

Status infer_cast(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"to", AttributeType::Int, true}}));
  HET_ASSIGN(const ElementType to, element_type_from_onnx(context.attributes().get_int("to", 0)));
  HET_TRY(check_cast(context, to));
  context.set_output(0, to, context.shape(0));
  return {};
}

Status infer_cast_like(InferContext& context) {
  HET_TRY(check_input(context, 1, "target_type", kAllTypes));
  HET_TRY(check_cast(context, context.type(1)));
  context.set_output(0, context.type(1), context.shape(0));
  return {};
}

Status evaluate_cast(EvaluateContext& context) {
  return cast_elements(context.input(0), context.output(0));
}

}  // namespace

Status cast_elements(const Tensor& src, Tensor& dst) {
  if (src.element_count() != dst.element_count()) {
    return error(StatusCode::ShapeMismatch, "cannot cast {} into {}", to_string(src.desc()),
                 to_string(dst.desc()));
  }
  if (src.type() == dst.type()) {
    copy_elements(src, dst);
    return {};
  }
  return dispatch_numeric_or_bool(src.type(), [&]<class From>() -> Status {
    return dispatch_numeric_or_bool(dst.type(), [&]<class To>() -> Status {
      const std::span<const From> from = src.values<From>();
      To* to = dst.data<To>();
      for (size_t i = 0; i < from.size(); ++i) to[i] = numeric_cast<To>(from[i]);
      return {};
    });
  });
}

void register_cast(OpRegistry& registry) {
  registry.add({"Cast", "", 28, 1, 1, infer_cast, evaluate_cast});
  registry.add({"CastLike", "", 25, 2, 2, infer_cast_like, evaluate_cast});
}

}  // namespace het
