#include "inference/ops/movement/reshape.h"

#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Status infer_reshape(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kAllTypes));
  HET_TRY(check_attributes(context.attributes(), {{"allowzero", AttributeType::Int}}));
  HET_ASSIGN(const auto wanted, known_ints(context, 1, "shape"));
  if (!wanted) {
    const int64_t rank = context.rank(1) == 0 ? 1 : context.shape(1)[0];
    context.set_output(0, context.type(0), unknown_shape(std::min<int64_t>(rank, 64)));
    return {};
  }
  const bool allow_zero = context.attributes().get_int("allowzero", 0) != 0;
  HET_ASSIGN(Shape shape, reshaped_shape(context.shape(0), *wanted, allow_zero));
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

Status evaluate_reshape(EvaluateContext& context) {
  copy_elements(context.input(0), context.output(0));
  return {};
}

}  // namespace

Result<Shape> reshaped_shape(const Shape& input, const std::vector<int64_t>& wanted,
                             bool allow_zero) {
  const auto failure = [&](std::string_view reason) {
    return error(StatusCode::ShapeMismatch, "cannot reshape {} to {}: {}", to_string(input),
                 to_string(wanted), reason);
  };
  Shape shape = wanted;
  // Copied dimensions cancel out of the computed one, so that [0,6] reshapes to [0,-1,2].
  Shape rest = input;
  Shape given;
  size_t computed = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      if (computed != shape.size()) return failure("only one dimension can be -1");
      computed = i;
    } else if (shape[i] == 0 && !allow_zero) {
      if (i >= input.size()) return failure("0 copies a dimension that the input does not have");
      shape[i] = input[i];
      rest[i] = 1;
    } else if (shape[i] < 0) {
      return failure("dimensions must be -1 or more");
    } else {
      given.push_back(shape[i]);
    }
  }
  if (computed != shape.size()) {
    HET_ASSIGN(const int64_t elements, checked_element_count(rest));
    HET_ASSIGN(const int64_t divisor, checked_element_count(given));
    if (divisor == 0) return failure("-1 beside a dimension of 0 can be anything");
    if (elements % divisor != 0) return failure("the elements do not fill whole rows");
    shape[computed] = elements / divisor;
  }
  HET_ASSIGN(const int64_t before, checked_element_count(input));
  HET_ASSIGN(const int64_t after, checked_element_count(shape));
  if (before != after) {
    return failure(fmt::format("it has {} elements, but {} are asked for", before, after));
  }
  return shape;
}

HET_REGISTRATION void register_reshape(OpRegistry& registry) {
  registry.add({"Reshape", "", 25, 2, 2, infer_reshape, evaluate_reshape});
}

}  // namespace het
