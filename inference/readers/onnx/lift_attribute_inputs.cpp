#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {

/// Slice-1: starts, ends and axes are attributes.
void lift_slice(LiftContext& context) {
  if (!context.attributes().has("starts") || !context.attributes().has("ends")) {
    return context.refuse("Slice of opset 1 needs the attributes starts and ends");
  }
  context.move_to_input("starts", 1);
  context.move_to_input("ends", 2);
  context.move_to_input("axes", 3);
}

/// Clip-1 and Clip-6: min and max are attributes.
void lift_clip(LiftContext& context) {
  Value* x = context.node().input(0);
  size_t index = 1;
  for (const char* bound : {"min", "max"}) {
    if (context.attributes().has(bound)) {
      const float value = context.attributes().get_float(bound, 0.0f);
      context.node().set_input(index, context.scalar_like(bound, value, x));
      context.attributes().erase(bound);
    }
    ++index;
  }
}

/// Pad-1 and Pad-2: pads (called paddings in Pad-1) and value are attributes.
void lift_pad(LiftContext& context) {
  if (!context.attributes().has("pads") && context.attributes().has("paddings")) {
    context.attributes().set("pads", context.attributes().get_ints("paddings"));
    context.attributes().erase("paddings");
  }
  if (!context.attributes().has("pads")) {
    return context.refuse("Pad before opset 11 needs the attribute pads");
  }
  context.move_to_input("pads", 1);
  const float value = context.attributes().get_float("value", 0.0f);
  context.attributes().erase("value");
  if (value != 0.0f) {
    context.node().set_input(2, context.scalar_like("value", value, context.node().input(0)));
  }
}

/// TopK-1: k is an attribute.
void lift_top_k(LiftContext& context) {
  if (!context.attributes().has("k"))
    return context.refuse("TopK of opset 1 needs the attribute k");
  context.move_to_input("k", 1);
}

/// Before opset 13 `split` is an attribute; before 18 the number of parts is that of the outputs.
void lift_split(LiftContext& context) {
  if (context.opset() < 13) context.move_to_input("split", 1);
  if (context.node().input(1) == nullptr) {
    context.attributes().set("num_outputs", static_cast<int64_t>(context.node().outputs.size()));
  }
}

/// Before opset 12 the ratio is an attribute, and there is no training_mode. Before 10 the mask has
/// the type of the data.
void lift_dropout(LiftContext& context) {
  if (context.opset() < 10) {
    context.drop_outputs(1, "the mask of Dropout before opset 10 is not supported");
  }
  if (context.attributes().has("ratio")) {
    const float ratio = context.attributes().get_float("ratio", 0.5f);
    context.node().set_input(1, context.constant("ratio", Tensor::scalar(ratio)));
    context.attributes().erase("ratio");
  }
}

/// Reshape-1: shape is an attribute.
void lift_reshape(LiftContext& context) {
  context.move_to_input("shape", 1);
}

/// DFT-17: axis is an attribute with default 1; later it is an input with default -2.
void lift_dft(LiftContext& context) {
  const int64_t axis = context.attributes().get_int("axis", 1);
  context.attributes().erase("axis");
  context.node().set_input(2, context.constant("axis", Tensor::scalar(axis)));
}

}  // namespace het::onnx
