#include <cstring>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status check_variable(const InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"variable_id", AttributeType::String, true},
                                                  {"variable_type", AttributeType::String},
                                                  {"variable_shape", AttributeType::Ints}}));
  if (!context.attributes().get_string("variable_id", "").empty()) return {};
  return error(StatusCode::InvalidArgument, "variable_id is empty, but must name a variable");
}

Status infer_read_value(InferContext& context) {
  HET_TRY(check_variable(context));
  if (!context.has_input(0)) {
    return error(StatusCode::NotSupported,
                 "variable '{}' has no first value; it can only be read where a device or a "
                 "request keeps its state",
                 context.attributes().get_string("variable_id", ""));
  }
  HET_TRY(check_input(context, 0, "init_value", kAllTypes));
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

Status infer_assign(InferContext& context) {
  HET_TRY(check_variable(context));
  HET_TRY(check_input(context, 0, "new_value", kAllTypes));
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// One evaluation on its own knows no state: ReadValue gives its first value, Assign hands on what
/// it takes. `expose_state()` turns both into ports before a model with state is compiled.
/// docs.openvino.ai, operation specifications ReadValue-3, -6 and Assign-3, -6.
Status hand_on(EvaluateContext& context) {
  std::memcpy(context.output(0).bytes(), context.input(0).bytes(), context.input(0).size_bytes());
  return {};
}

}  // namespace

HET_REGISTRATION void register_het_state(OpRegistry& registry) {
  registry.add({"ReadValue", "het", 6, 0, 1, infer_read_value, hand_on});
  registry.add({"Assign", "het", 6, 1, 1, infer_assign, hand_on});
}

}  // namespace het
