#include <limits>
#include <optional>
#include <utility>

#include "inference/readers/onnx/lift_rules.h"

/// Operators of com.microsoft with channels last, between two Transposes, and others of its picture
/// models that ONNX has in another form.
namespace het::onnx {
namespace {

/// [0, rank - 1, 1, 2 ...]: channels from the last place to the second.
std::vector<int64_t> to_channels_first(int64_t rank) {
  std::vector<int64_t> order{0, rank - 1};
  for (int64_t d = 1; d + 1 < rank; ++d) order.push_back(d);
  return order;
}

std::vector<int64_t> to_channels_last(int64_t rank) {
  std::vector<int64_t> order{0};
  for (int64_t d = 2; d < rank; ++d) order.push_back(d);
  order.push_back(1);
  return order;
}

/// Rank of a convolution's input: by kernel_shape, or by its weights where they are a constant; 0
/// when neither is known.
int64_t convolution_rank(const PendingNode& node, size_t weights) {
  const std::vector<int64_t> kernel = node.attributes.get_ints("kernel_shape");
  if (!kernel.empty()) return static_cast<int64_t>(kernel.size()) + 2;
  const Value* const w = node.input(weights);
  return w != nullptr && w->is_constant() ? static_cast<int64_t>(w->desc().shape.size()) : 0;
}

bool check_rank(LiftContext& context, int64_t rank) {
  if (rank >= 3 && rank <= 5 && context.node().input(0) != nullptr) return true;
  context.refuse(fmt::format(
      "{} needs X and a kernel_shape, or constant weights, of 1 to 3 spatial dimensions",
      context.node().op_type));
  return false;
}

Value* shape_part(LiftContext& context, Value* x, int64_t start, std::optional<int64_t> end) {
  Attributes attributes;
  attributes.set("start", start);
  if (end) attributes.set("end", *end);
  return context.insert("Shape", {x}, std::move(attributes));
}

Value* joined(LiftContext& context, std::vector<Value*> parts) {
  Attributes attributes;
  attributes.set("axis", int64_t{0});
  return context.insert("Concat", std::move(parts), std::move(attributes));
}

}  // namespace

/// Conv, FusedConv or QLinearConv of a picture with channels last; the weights are those of Conv.
void lift_nhwc_conv(LiftContext& context) {
  PendingNode& node = context.node();
  const bool quantised = node.op_type == "QLinearConv";
  if (quantised && node.attributes.get_int("channels_last", 0) == 0) {
    node.attributes.erase("channels_last");
    return context.become("QLinearConv", node.inputs, node.attributes);
  }
  const int64_t rank = convolution_rank(node, quantised ? 3 : 1);
  if (!check_rank(context, rank)) return;
  node.attributes.erase("channels_last");
  node.inputs[0] = context.transpose(node.inputs[0], to_channels_first(rank));
  const bool has_sum = !quantised && node.input(3) != nullptr;
  if (has_sum) node.inputs[3] = context.transpose(node.inputs[3], to_channels_first(rank));
  Value* y = nullptr;
  if (quantised || (!has_sum && !node.attributes.has("activation"))) {
    y = context.insert(quantised ? "QLinearConv" : "Conv", node.inputs, node.attributes);
  } else {
    lift_fused_conv(context);
    if (!node.unsupported_reason.empty()) return;
    y = context.insert(node.op_type, node.inputs, node.attributes);
  }
  context.become_transpose(y, to_channels_last(rank));
}

/// GroupNorm of X + skip + bias, which is output 1. The skip is a picture, or one value per image
/// and channel: then it gets dimensions of 1 between them.
void lift_skip_group_norm(LiftContext& context) {
  PendingNode& node = context.node();
  Value* const x = node.input(0);
  Value* const skip = node.input(3);
  if (x == nullptr || skip == nullptr) return context.refuse("SkipGroupNorm needs X and skip");
  Value* const ones = context.constant("ones", {1, 1});
  Value* const between = joined(context, {ones, shape_part(context, skip, 1, -1)});
  Value* const spatial =
      context.insert("Slice", {between, context.constant("from", {-2}),
                               context.constant("to", {std::numeric_limits<int64_t>::max()})});
  Value* const shape = joined(context, {shape_part(context, skip, 0, 1), spatial,
                                        shape_part(context, skip, -1, std::nullopt)});
  Value* total = context.insert("Add", {x, context.insert("Reshape", {skip, shape})});
  if (node.input(4) != nullptr) total = context.insert("Add", {total, node.input(4)});
  if (node.outputs.size() > 1) {
    context.bind_output(1, total);
    node.outputs.resize(1);
  }
  node.inputs = {total, node.input(1), node.input(2)};
  lift_group_norm(context);
}

/// ONNX' operator with the inputs in another order. A single position is that of the first token.
void lift_rotary_embedding(LiftContext& context) {
  PendingNode& node = context.node();
  Value* const x = node.input(0);
  Value* const positions = node.input(1);
  if (x == nullptr || positions == nullptr || node.input(2) == nullptr ||
      node.input(3) == nullptr) {
    return context.refuse("RotaryEmbedding needs input, position_ids, cos_cache and sin_cache");
  }
  if (node.attributes.get_int("is_packed_batching", 0) != 0 ||
      node.attributes.get_float("scale", 1.0f) != 1.0f) {
    return context.refuse("RotaryEmbedding with packed batches or a scale is not supported");
  }
  Value* const length = shape_part(context, x, -2, -1);
  Value* const scalar = context.constant("scalar", std::vector<int64_t>{});
  const auto number = [&](const char* name, int64_t value) {
    return context.constant(name, Tensor::scalar<int64_t>(value));
  };
  Value* const steps = context.insert(
      "Range", {number("from", 0), context.insert("Reshape", {length, scalar}), number("step", 1)});
  // The rank of position_ids: 1 for a first position, 2 for all of them.
  Value* const rank = context.insert("Size", {context.insert("Shape", {positions})});
  Attributes attributes;
  attributes.set("to", int64_t{7});
  Value* const is_first =
      context.insert("Cast", {context.insert("Equal", {rank, number("one", 1)})}, attributes);
  Value* const moved = context.insert("Add", {positions, context.insert("Mul", {steps, is_first})});
  Value* const shape = joined(context, {shape_part(context, x, 0, 1), length});
  Value* const ids = context.insert("Expand", {moved, shape});
  node.attributes.erase("is_packed_batching");
  node.attributes.erase("scale");
  context.become("RotaryEmbedding", {x, node.input(2), node.input(3), ids}, node.attributes);
}

/// X + bias + skip.
void lift_bias_add(LiftContext& context) {
  const PendingNode& node = context.node();
  if (node.input(0) == nullptr || node.input(1) == nullptr || node.input(2) == nullptr) {
    return context.refuse("BiasAdd needs X, bias and skip");
  }
  Value* const sum = context.insert("Add", {node.input(0), node.input(1)});
  context.become("Add", {sum, node.input(2)});
}

/// The inverse of every matrix: an operator of our own, which OpenVINO has too.
void lift_inverse(LiftContext& context) {
  context.become("Inverse", context.node().inputs);
  context.node().domain = "het";
}

}  // namespace het::onnx
