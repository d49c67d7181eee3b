#include <algorithm>
#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

/// The one-element tensor of the attribute, null for the default: float32 zero.
const Tensor* fill_value(const Attributes& attributes) {
  const Attribute* value = attributes.find("value");
  return value == nullptr ? nullptr : &std::get<Tensor>(*value);
}

Status infer_constant_of_shape(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"value", AttributeType::Tensor}}));
  const Tensor* value = fill_value(context.attributes());
  if (value != nullptr && (value->empty() || value->element_count() != 1)) {
    return error(StatusCode::InvalidArgument, "attribute 'value' must have exactly one element");
  }
  const ElementType type = value == nullptr ? ElementType::Float32 : value->type();
  if (!kWholeByteTypes.contains(type)) {
    return error(StatusCode::NotSupported, "type {} of attribute 'value' is not supported",
                 to_string(type));
  }
  HET_ASSIGN(const auto dims, known_ints(context, 0, "input"));
  if (!dims) {
    const int64_t rank = context.rank(0) == 0 ? 1 : context.shape(0)[0];
    context.set_output(0, type, unknown_shape(std::min<int64_t>(rank, 64)));
    return {};
  }
  if (!is_static(*dims)) {
    return error(StatusCode::InvalidArgument, "shape {} has a negative dimension",
                 to_string(*dims));
  }
  context.set_output(0, type, *dims);
  return {};
}

Status evaluate_constant_of_shape(EvaluateContext& context) {
  Tensor& y = context.output(0);
  const Tensor* value = fill_value(context.attributes());
  const size_t width = byte_width(y.type());
  std::byte element[8] = {};
  if (value != nullptr) std::memcpy(element, value->bytes(), width);
  const size_t size = y.size_bytes();
  for (size_t offset = 0; offset < size; offset += width) {
    std::memcpy(y.bytes() + offset, element, width);
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_constant_of_shape(OpRegistry& registry) {
  registry.add(
      {"ConstantOfShape", "", 25, 1, 1, infer_constant_of_shape, evaluate_constant_of_shape});
}

}  // namespace het
