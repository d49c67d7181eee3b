#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Status infer_expand(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kWholeByteTypes));
  HET_ASSIGN(const auto wanted, known_ints(context, 1, "shape"));
  if (!wanted) {
    const int64_t length = context.rank(1) == 0 ? 1 : context.shape(1)[0];
    const int64_t rank = std::max(context.rank(0), std::min<int64_t>(length, 64));
    context.set_output(0, context.type(0), unknown_shape(rank));
    return {};
  }
  if (!is_static(*wanted)) {
    return error(StatusCode::InvalidArgument, "shape {} has a negative dimension",
                 to_string(*wanted));
  }
  HET_ASSIGN(Shape shape, broadcast(context.shape(0), *wanted));
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

Status evaluate_expand(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  const BroadcastPlan plan = plan_broadcast(y.shape(), {&x.shape(), 1});
  strided_copy(plan.dims, byte_width(x.type()), x.bytes(), plan.strides[0], y.bytes(),
               row_major_strides(plan.dims));
  return {};
}

}  // namespace

HET_REGISTRATION void register_expand(OpRegistry& registry) {
  registry.add({"Expand", "", 13, 2, 2, infer_expand, evaluate_expand});
}

}  // namespace het
