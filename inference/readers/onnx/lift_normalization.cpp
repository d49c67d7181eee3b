#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {

/// Before opset 14 there is no training_mode: further outputs mean training. Before 9 `spatial`
/// chooses between one mean per channel and one per element.
void lift_batch_normalization(LiftContext& context) {
  if (context.opset() < 9 && context.attributes().get_int("spatial", 1) == 0) {
    return context.refuse("BatchNormalization with spatial=0 is not supported");
  }
  context.attributes().erase("spatial");
  context.attributes().erase("is_test");
  context.attributes().erase("consumed_inputs");
  context.drop_outputs(1, "BatchNormalization in training mode is not supported");
}

/// GroupNormalization-18 has one scale and bias per group; 21 has one per channel. Each value is
/// repeated for the channels of its group.
void lift_group_normalization(LiftContext& context) {
  Value* const x = context.node().input(0);
  const int64_t groups = context.attributes().get_int("num_groups", 0);
  if (x == nullptr || context.node().input(1) == nullptr || context.node().input(2) == nullptr ||
      groups <= 0) {
    return context.refuse("GroupNormalization needs scale, bias and num_groups");
  }
  Attributes channel_dim;
  channel_dim.set("start", int64_t{1});
  channel_dim.set("end", int64_t{2});
  Value* const group_count = context.constant("groups", {groups});
  Value* const channels_per_group =
      context.insert("Div", {context.insert("Shape", {x}, channel_dim), group_count});
  Attributes along;
  along.set("axis", int64_t{0});
  Value* const repeated = context.insert("Concat", {group_count, channels_per_group}, along);
  Value* const column = context.constant("column", {groups, 1});
  Value* const flat = context.constant("flat", {-1});
  for (const size_t index : {size_t{1}, size_t{2}}) {
    Value* const per_group = context.insert("Reshape", {context.node().input(index), column});
    Value* const per_channel = context.insert("Expand", {per_group, repeated});
    context.node().set_input(index, context.insert("Reshape", {per_channel, flat}));
  }
}

}  // namespace het::onnx
