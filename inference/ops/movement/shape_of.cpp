#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

/// The dimensions [start, end) that the attributes choose; positions are clamped.
Shape chosen_dims(const Attributes& attributes, const Shape& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  const auto clamp = [rank](int64_t position) {
    return std::clamp<int64_t>(position < 0 ? position + rank : position, 0, rank);
  };
  const int64_t start = clamp(attributes.get_int("start", 0));
  const int64_t end = clamp(attributes.get_int("end", rank));
  return start < end ? Shape(shape.begin() + start, shape.begin() + end) : Shape();
}

Status infer_shape(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kAllTypes));
  HET_TRY(check_attributes(context.attributes(),
                           {{"start", AttributeType::Int}, {"end", AttributeType::Int}}));
  const Shape dims = chosen_dims(context.attributes(), context.shape(0));
  context.set_output(0, ElementType::Int64, {static_cast<int64_t>(dims.size())});
  return {};
}

Status evaluate_shape(EvaluateContext& context) {
  const Shape dims = chosen_dims(context.attributes(), context.input(0).shape());
  std::copy(dims.begin(), dims.end(), context.output(0).data<int64_t>());
  return {};
}

Status infer_size(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kAllTypes));
  context.set_output(0, ElementType::Int64, {});
  return {};
}

Status evaluate_size(EvaluateContext& context) {
  context.output(0).data<int64_t>()[0] = context.input(0).element_count();
  return {};
}

}  // namespace

HET_REGISTRATION void register_shape_of(OpRegistry& registry) {
  registry.add({"Shape", "", 25, 1, 1, infer_shape, evaluate_shape});
  registry.add({"Size", "", 25, 1, 1, infer_size, evaluate_size});
}

}  // namespace het
