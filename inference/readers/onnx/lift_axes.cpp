#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {

/// Squeeze, Unsqueeze and ReduceSum have `axes` as an attribute before opset 13, the other
/// reductions before 18.
void lift_axes_attribute(LiftContext& context) {
  context.move_to_input("axes", 1);
}

}  // namespace het::onnx
