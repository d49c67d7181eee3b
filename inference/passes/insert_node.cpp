#include "inference/passes/insert_node.h"

#include <utility>

namespace het {

Value* insert_behind(Model& model, Value* value, const std::string& name,
                     const std::string& op_type, const std::vector<Value*>& more_inputs,
                     Attributes attributes) {
  std::vector<Value*> inputs{value};
  inputs.insert(inputs.end(), more_inputs.begin(), more_inputs.end());
  Node* node = model.add_node(name, op_type, "", inputs, {name}, std::move(attributes));
  model.replace_uses(value, node->output());
  model.set_input(node, 0, value);
  return node->output();
}

Result<size_t> channel_axis(const Model& model, size_t input_index) {
  const ModelInput& input = model.inputs()[input_index];
  const TensorDesc& desc = input.value->desc();
  if (desc.shape.size() != 4) {
    return error(StatusCode::NotSupported,
                 "input '{}' {} is no picture: four dimensions with 1 or 3 channels are needed",
                 input.value->name(), to_string(desc));
  }
  Layout layout = input.preprocess ? input.preprocess->tensor_layout : desc.layout;
  if (layout == Layout::Plain) {
    const auto is_channels = [](int64_t dim) { return dim == 1 || dim == 3; };
    layout =
        !is_channels(desc.shape[1]) && is_channels(desc.shape[3]) ? Layout::NHWC : Layout::NCHW;
  }
  const size_t axis = layout == Layout::NHWC ? 3 : 1;
  if (desc.shape[axis] < 1) {
    return error(StatusCode::NotSupported,
                 "input '{}' {} does not say how many channels it has (axis {}): reshape it first",
                 input.value->name(), to_string(desc), axis);
  }
  return axis;
}

}  // namespace het
