#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {

/// Before opset 13 Softmax, LogSoftmax and Hardmax see their input as a matrix whose columns are
/// all dimensions from `axis` (default 1) on. Where that is the last dimension it is the same as
/// today's; otherwise: Flatten, today's on the last axis, Reshape back.
void lift_softmax(LiftContext& context) {
  Value* const x = context.node().input(0);
  if (x == nullptr) return;
  const int64_t axis = context.attributes().get_int("axis", 1);
  const bool rank_known = (x->is_input() || x->is_constant()) && !x->desc().shape.empty();
  const auto rank = static_cast<int64_t>(x->desc().shape.size());
  if (axis == -1 || (rank_known && axis == rank - 1)) {
    context.attributes().set("axis", int64_t{-1});
    return;
  }
  Attributes at_axis;
  at_axis.set("axis", axis);
  Attributes last;
  last.set("axis", int64_t{-1});
  Value* const rows = context.insert("Flatten", {x}, at_axis);
  Value* const result = context.insert(context.node().op_type, {rows}, last);
  Value* const shape = context.insert("Shape", {x});
  context.node().op_type = "Reshape";
  context.node().inputs = {result, shape};
  context.node().attributes = {};
}

}  // namespace het::onnx
