#include <array>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_where(InferContext& context) {
  HET_TRY(check_input(context, 0, "condition", kBoolOnly));
  HET_TRY(check_input(context, 1, "X", kWholeByteTypes));
  HET_TRY(check_input(context, 2, "Y", kWholeByteTypes));
  HET_TRY(check_same_type(context, 1, 2));
  HET_ASSIGN(Shape shape, broadcast(context.shape(1), context.shape(2)));
  HET_ASSIGN(shape, broadcast(context.shape(0), shape));
  context.set_output(0, context.type(1), std::move(shape));
  return {};
}

Status evaluate_where(EvaluateContext& context) {
  const std::array<Shape, 3> shapes{context.input(0).shape(), context.input(1).shape(),
                                    context.input(2).shape()};
  Tensor& y = context.output(0);
  const BroadcastPlan plan = plan_broadcast(y.shape(), shapes);
  const bool* condition = context.input(0).data<bool>();
  return dispatch_width(y.type(), [&]<class T>() -> Status {
    const auto* when_true = reinterpret_cast<const T*>(context.input(1).bytes());
    const auto* when_false = reinterpret_cast<const T*>(context.input(2).bytes());
    auto* dst = reinterpret_cast<T*>(y.bytes());
    for_each_row<3>(plan, [&](int64_t start, const std::array<int64_t, 3>& src) {
      for (int64_t i = 0; i < plan.dims.back(); ++i) {
        dst[start + i] = condition[src[0] + i * plan.strides[0].back()]
                             ? when_true[src[1] + i * plan.strides[1].back()]
                             : when_false[src[2] + i * plan.strides[2].back()];
      }
    });
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_where(OpRegistry& registry) {
  registry.add({"Where", "", 16, 3, 3, infer_where, evaluate_where});
}

}  // namespace het
