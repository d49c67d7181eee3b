#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Status infer_identity(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kAllTypes));
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

Status evaluate_identity(EvaluateContext& context) {
  copy_elements(context.input(0), context.output(0));
  return {};
}

}  // namespace

HET_REGISTRATION void register_identity(OpRegistry& registry) {
  registry.add({"Identity", "", 25, 1, 1, infer_identity, evaluate_identity});
}

}  // namespace het
