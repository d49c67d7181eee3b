#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {
namespace {

/// Reshapes b so that its dimensions stand from `axis` of a on and NumPy's broadcasting does the
/// rest. The ranks are only known later: the shape is computed in the graph and folds there.
Value* align(LiftContext& context, Value* a, Value* b, int64_t axis) {
  Value* const a_rank = context.insert("Size", {context.insert("Shape", {a})});
  Value* const b_shape = context.insert("Shape", {b});
  Value* const b_end = context.insert(
      "Add", {context.insert("Size", {b_shape}), context.constant("axis", Tensor::scalar(axis))});
  Value* const behind = context.insert(
      "Reshape", {context.insert("Sub", {a_rank, b_end}), context.constant("one", {1})});
  Attributes ones;
  ones.set("value", Tensor::from<int64_t>({1}, {1}));
  Value* const trailing = context.insert("ConstantOfShape", {behind}, ones);
  Attributes along;
  along.set("axis", int64_t{0});
  return context.insert("Reshape", {b, context.insert("Concat", {b_shape, trailing}, along)});
}

}  // namespace

/// Before opset 7 shapes are equal, or broadcast=1 fits b into a from `axis` on (from the end when
/// there is no axis, which is what NumPy does).
void lift_binary_broadcast(LiftContext& context) {
  const bool broadcast = context.attributes().get_int("broadcast", 0) != 0;
  const bool has_axis = context.attributes().has("axis");
  const int64_t axis = context.attributes().get_int("axis", -1);
  context.attributes().erase("broadcast");
  context.attributes().erase("axis");
  if (!broadcast || !has_axis) return;
  Value* const a = context.node().input(0);
  Value* const b = context.node().input(1);
  if (a == nullptr || b == nullptr) return;
  if (axis < 0) {
    return context.refuse(fmt::format("broadcasting along axis {} is not supported", axis));
  }
  context.node().set_input(1, align(context, a, b, axis));
}

/// Before opset 7 a slope of more than one element belongs to the channels.
void lift_prelu(LiftContext& context) {
  Value* const x = context.node().input(0);
  Value* const slope = context.node().input(1);
  if (x == nullptr || slope == nullptr) return;
  if (slope->is_constant() && slope->constant().element_count() == 1) return;
  context.node().set_input(1, align(context, x, slope, 1));
}

/// Before opset 7 C is broadcast when the attribute says so; NumPy's rules do the same.
void lift_gemm(LiftContext& context) {
  context.attributes().erase("broadcast");
}

}  // namespace het::onnx
