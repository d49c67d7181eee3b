#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

/// The tensor that the node's one value attribute describes.
Result<Tensor> constant_value(const Attributes& attributes) {
  HET_TRY(check_attributes(attributes, {{"value", AttributeType::Tensor},
                                        {"value_float", AttributeType::Float},
                                        {"value_floats", AttributeType::Floats},
                                        {"value_int", AttributeType::Int},
                                        {"value_ints", AttributeType::Ints}}));
  if (const Attribute* value = attributes.find("value")) {
    const Tensor& tensor = std::get<Tensor>(*value);
    if (tensor.empty()) return error(StatusCode::ParseError, "attribute 'value' is empty");
    if (!tensor.is_dense() && byte_width(tensor.type()) > 0) return tensor.clone();
    return tensor;
  }
  if (const Attribute* value = attributes.find("value_float")) {
    return Tensor::scalar(std::get<float>(*value));
  }
  if (const Attribute* value = attributes.find("value_int")) {
    return Tensor::scalar(std::get<int64_t>(*value));
  }
  if (const Attribute* value = attributes.find("value_floats")) {
    const auto& list = std::get<std::vector<float>>(*value);
    return Tensor::from<float>({static_cast<int64_t>(list.size())}, std::span<const float>(list));
  }
  if (const Attribute* value = attributes.find("value_ints")) {
    const auto& list = std::get<std::vector<int64_t>>(*value);
    return Tensor::from<int64_t>({static_cast<int64_t>(list.size())},
                                 std::span<const int64_t>(list));
  }
  return error(
      StatusCode::NotSupported,
      "none of value, value_float, value_floats, value_int and value_ints is given; sparse "
      "tensors and strings are not supported");
}

Status infer_constant(InferContext& context) {
  HET_ASSIGN(const Tensor value, constant_value(context.attributes()));
  context.set_output(0, value.type(), value.shape());
  return {};
}

Status evaluate_constant(EvaluateContext& context) {
  HET_ASSIGN(const Tensor value, constant_value(context.attributes()));
  copy_elements(value, context.output(0));
  return {};
}

}  // namespace

HET_REGISTRATION void register_constant(OpRegistry& registry) {
  registry.add({"Constant", "", 25, 0, 0, infer_constant, evaluate_constant});
}

}  // namespace het
