#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Result<Shape> squeezed_shape(const Shape& input, const std::vector<int64_t>& axes) {
  HET_ASSIGN(const std::vector<int64_t> dropped,
             normalize_axes(axes, static_cast<int64_t>(input.size())));
  Shape shape;
  for (size_t d = 0; d < input.size(); ++d) {
    if (std::find(dropped.begin(), dropped.end(), static_cast<int64_t>(d)) == dropped.end()) {
      shape.push_back(input[d]);
    } else if (input[d] != 1) {
      return error(StatusCode::ShapeMismatch,
                   "cannot squeeze axis {} of shape {}: its dimension is not 1", d,
                   to_string(input));
    }
  }
  return shape;
}

Status infer_squeeze(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kAllTypes));
  Shape shape;
  if (!context.has_input(1)) {
    for (const int64_t dim : context.shape(0)) {
      if (dim != 1) shape.push_back(dim);
    }
    context.set_output(0, context.type(0), std::move(shape));
    return {};
  }
  HET_ASSIGN(const auto axes, known_ints(context, 1, "axes"));
  if (!axes) {
    const int64_t dropped = context.rank(1) == 0 ? 1 : context.shape(1)[0];
    if (dropped > context.rank(0)) {
      return error(StatusCode::ShapeMismatch, "{} axes to squeeze from shape {}", dropped,
                   to_string(context.shape(0)));
    }
    context.set_output(0, context.type(0), unknown_shape(context.rank(0) - dropped));
    return {};
  }
  HET_ASSIGN(shape, squeezed_shape(context.shape(0), *axes));
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

Status evaluate_squeeze(EvaluateContext& context) {
  copy_elements(context.input(0), context.output(0));
  return {};
}

}  // namespace

HET_REGISTRATION void register_squeeze(OpRegistry& registry) {
  registry.add({"Squeeze", "", 25, 1, 2, infer_squeeze, evaluate_squeeze});
}

}  // namespace het
