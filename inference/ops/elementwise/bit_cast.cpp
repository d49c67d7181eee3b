#include <algorithm>
#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_bit_cast(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kAllTypes));
  HET_TRY(check_attributes(context.attributes(), {{"to", AttributeType::Int, true}}));
  HET_ASSIGN(const ElementType to, element_type_from_onnx(context.attributes().get_int("to", 0)));
  if (bit_width(to) != bit_width(context.type(0))) {
    return error(StatusCode::InvalidArgument, "{} and {} differ in width", to_string(to),
                 to_string(context.type(0)));
  }
  context.set_output(0, to, context.shape(0));
  return {};
}

Status evaluate_bit_cast(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  if (context.output(0).type() == ElementType::Bool) {
    // A bool of C++ must not hold other patterns than 0 and 1.
    std::transform(x.bytes(), x.bytes() + x.size_bytes(), context.output(0).data<bool>(),
                   [](std::byte value) { return value != std::byte{0}; });
    return {};
  }
  if (x.size_bytes() > 0) std::memcpy(context.output(0).bytes(), x.bytes(), x.size_bytes());
  return {};
}

}  // namespace

HET_REGISTRATION void register_bit_cast(OpRegistry& registry) {
  registry.add({"BitCast", "", 26, 1, 1, infer_bit_cast, evaluate_bit_cast});
}

}  // namespace het
