#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

/// Inference only: data passes unchanged and the mask keeps everything. Training that drops nothing
/// is the same.
Status infer_dropout(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kFloatTypes));
  HET_TRY(check_optional_input(context, 1, "ratio", kFloatTypes));
  HET_TRY(check_optional_input(context, 2, "training_mode", kBoolOnly));
  const Tensor* training = context.has_input(2) ? context.constant(2) : nullptr;
  if (training != nullptr && training->element_count() == 1 && training->data<bool>()[0]) {
    const Tensor* ratio = context.has_input(1) ? context.constant(1) : nullptr;
    std::vector<float> ratios;
    if (ratio != nullptr) {
      HET_ASSIGN(ratios, to_float_vector(*ratio));
    }
    if (ratios != std::vector<float>{0.0f}) {
      return error(StatusCode::NotSupported,
                   "training_mode is true; only inference is supported, set it to false");
    }
  }
  context.set_output(0, context.type(0), context.shape(0));
  context.set_output(1, ElementType::Bool, context.shape(0));
  return {};
}

Status evaluate_dropout(EvaluateContext& context) {
  copy_elements(context.input(0), context.output(0));
  if (context.has_output(1)) {
    const auto mask = context.output(1).values<bool>();
    std::fill(mask.begin(), mask.end(), true);
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_dropout(OpRegistry& registry) {
  registry.add({"Dropout", "", 22, 1, 3, infer_dropout, evaluate_dropout});
}

}  // namespace het
