#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Status infer_flatten(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kAllTypes));
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int}}));
  const int64_t rank = context.rank(0);
  int64_t axis = context.attributes().get_int("axis", 1);
  // axis == rank is allowed and gives [n, 1]
  if (axis < -rank || axis > rank) {
    return error(StatusCode::InvalidArgument, "axis {} is outside [{}, {}] for shape {}", axis,
                 -rank, rank, to_string(context.shape(0)));
  }
  if (axis < 0) axis += rank;
  const auto split = context.shape(0).begin() + axis;
  HET_ASSIGN(const int64_t rows, checked_element_count({context.shape(0).begin(), split}));
  HET_ASSIGN(const int64_t columns, checked_element_count({split, context.shape(0).end()}));
  context.set_output(0, context.type(0), {rows, columns});
  return {};
}

Status evaluate_flatten(EvaluateContext& context) {
  copy_elements(context.input(0), context.output(0));
  return {};
}

}  // namespace

HET_REGISTRATION void register_flatten(OpRegistry& registry) {
  registry.add({"Flatten", "", 25, 1, 1, infer_flatten, evaluate_flatten});
}

}  // namespace het
