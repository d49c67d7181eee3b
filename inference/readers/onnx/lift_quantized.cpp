#include <utility>

#include "inference/readers/onnx/lift_rules.h"

/// Quantised operators of com.microsoft: the integer product and what is done with it, or the real
/// operator between DequantizeLinear and QuantizeLinear.
namespace het::onnx {
namespace {

/// The pending node becomes x + bias, or x where there is none.
void become_biased(LiftContext& context, Value* x, Value* bias) {
  if (bias == nullptr) return context.become("Identity", {x});
  context.become("Add", {x, bias});
}

Value* dequantized(LiftContext& context, const QuantizedOperand& x) {
  return context.insert("DequantizeLinear", {x.values, x.scale, x.zero_point});
}

/// Input `index` with the scale and the zero point that follow it.
QuantizedOperand operand(const PendingNode& node, size_t index) {
  return {node.input(index), node.input(index + 1), node.input(index + 2)};
}

bool has(LiftContext& context, std::initializer_list<size_t> indexes) {
  for (const size_t index : indexes) {
    if (context.node().input(index) != nullptr) continue;
    context.refuse(fmt::format("input {} of {} is missing", index, context.node().op_type));
    return false;
  }
  return true;
}

}  // namespace

Value* scaled_product(LiftContext& context, const QuantizedOperand& a, const QuantizedOperand& b) {
  Value* const sums =
      context.insert("MatMulInteger", {a.values, b.values, a.zero_point, b.zero_point});
  Value* const scale = context.insert("Mul", {a.scale, b.scale});
  return context.insert("Mul", {context.insert("CastLike", {sums, b.scale}), scale});
}

/// A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias.
void lift_matmul_integer_to_float(LiftContext& context) {
  if (!has(context, {0, 1, 2, 3})) return;
  const PendingNode& node = context.node();
  Value* const product = scaled_product(context, {node.input(0), node.input(2), node.input(4)},
                                        {node.input(1), node.input(3), node.input(5)});
  become_biased(context, product, node.input(6));
}

/// A (real), B, b_scale, b_zero_point, bias: A is quantised by DynamicQuantizeLinear.
void lift_dynamic_quantize_matmul(LiftContext& context) {
  if (!has(context, {0, 1, 2})) return;
  const PendingNode& node = context.node();
  const std::vector<Value*> a =
      context.insert_parts("DynamicQuantizeLinear", {node.input(0)}, 3, {});
  Value* const product =
      scaled_product(context, {a[0], a[1], a[2]}, {node.input(1), node.input(2), node.input(3)});
  become_biased(context, product, node.input(4));
}

/// alpha * scales * (A B + C), quantised where y_scale is given.
void lift_qgemm(LiftContext& context) {
  if (!has(context, {0, 1, 3, 4})) return;
  const PendingNode& node = context.node();
  QuantizedOperand a = operand(node, 0);
  QuantizedOperand b = operand(node, 3);
  Value* const c = node.input(6);
  Value* const y_scale = node.input(7);
  if (context.attributes().get_int("transA", 0) != 0)
    a.values = context.transpose(a.values, {1, 0});
  if (context.attributes().get_int("transB", 0) != 0)
    b.values = context.transpose(b.values, {1, 0});
  Value* sums = context.insert("MatMulInteger", {a.values, b.values, a.zero_point, b.zero_point});
  if (c != nullptr) sums = context.insert("Add", {sums, c});
  const float alpha = context.attributes().get_float("alpha", 1.0f);
  Value* scale = context.insert("Mul", {a.scale, b.scale});
  if (alpha != 1.0f) {
    scale = context.insert("Mul", {scale, context.scalar_like("alpha", alpha, a.scale)});
  }
  Value* const real = context.insert("CastLike", {sums, a.scale});
  if (y_scale == nullptr) return context.become("Mul", {real, scale});
  context.become("QuantizeLinear", {context.insert("Mul", {real, scale}), y_scale, node.input(8)});
}

/// X, x_scale, x_zero_point, y_scale, y_zero_point around a real operator.
void lift_qlinear_unary(LiftContext& context) {
  if (!has(context, {0, 1, 3})) return;
  const PendingNode& node = context.node();
  Attributes attributes;
  std::vector<Value*> inputs{dequantized(context, operand(node, 0))};
  std::string op_type = "Softmax";
  if (node.op_type == "QLinearReduceMean") {
    op_type = "ReduceMean";
    attributes.set("keepdims", context.attributes().get_int("keepdims", 1));
    if (context.attributes().has("axes")) {
      inputs.push_back(context.constant("axes", context.attributes().get_ints("axes")));
    }
  } else {
    const int64_t axis = context.attributes().get_int("axis", -1);
    attributes.set("axis", axis);
    if (axis != -1 && context.attributes().get_int("opset", 13) < 13) {
      return context.refuse("QLinearSoftmax of an opset before 13 needs axis -1");
    }
  }
  Value* const y = context.insert(std::move(op_type), std::move(inputs), std::move(attributes));
  context.become("QuantizeLinear", {y, node.input(3), node.input(4)});
}

/// condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point.
void lift_qlinear_where(LiftContext& context) {
  if (!has(context, {0, 1, 2, 4, 5, 7})) return;
  const PendingNode& node = context.node();
  Value* const x = dequantized(context, operand(node, 1));
  Value* const y = dequantized(context, operand(node, 4));
  Value* const z = context.insert("Where", {node.input(0), x, y});
  context.become("QuantizeLinear", {z, node.input(7), node.input(8)});
}

}  // namespace het::onnx
