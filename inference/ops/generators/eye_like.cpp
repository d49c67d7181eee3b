#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_eye_like(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kAllTypes));
  HET_TRY(check_rank(context, 0, "input", 2, 2));
  HET_TRY(check_attributes(context.attributes(),
                           {{"dtype", AttributeType::Int}, {"k", AttributeType::Int}}));
  ElementType type = context.type(0);
  if (context.attributes().has("dtype")) {
    HET_ASSIGN(type, element_type_from_onnx(context.attributes().get_int("dtype", 0)));
  }
  if (!kNumbersAndBool.contains(type)) {
    return error(StatusCode::NotSupported, "output type {} is not supported", to_string(type));
  }
  context.set_output(0, type, context.shape(0));
  return {};
}

Status evaluate_eye_like(EvaluateContext& context) {
  Tensor& y = context.output(0);
  const int64_t rows = y.shape()[0];
  const int64_t columns = y.shape()[1];
  const int64_t k = std::clamp(context.attributes().get_int("k", 0), -rows - 1, columns + 1);
  return dispatch_numeric_or_bool(y.type(), [&]<class T>() -> Status {
    T* dst = y.data<T>();
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) *dst++ = numeric_cast<T>(j == i + k);
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_eye_like(OpRegistry& registry) {
  registry.add({"EyeLike", "", 22, 1, 1, infer_eye_like, evaluate_eye_like});
}

}  // namespace het
