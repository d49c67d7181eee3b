#include "inference/devices/ports.h"

#include <algorithm>

namespace het {

std::vector<Port> input_ports(const Model& model) {
  std::vector<Port> ports;
  for (const ModelInput& input : model.inputs()) {
    ports.push_back({input.value->name(), input.value->desc(), input.preprocess});
  }
  return ports;
}

std::vector<Port> output_ports(const Model& model) {
  std::vector<Port> ports;
  for (const ModelOutput& output : model.outputs()) {
    TensorDesc desc = output.value->desc();
    if (desc.type == ElementType::Undefined && output.declared.type != ElementType::Undefined) {
      desc = output.declared;
      // It is sized at run time all the same: nobody may count on the file's sizes.
      if (desc.is_static()) std::ranges::fill(desc.shape, kUnknownDim);
    }
    ports.push_back({output.name, std::move(desc), std::nullopt});
  }
  return ports;
}

std::vector<Port> with_declared_sizes(std::vector<Port> outputs, const Model& model) {
  for (Port& port : outputs) {
    const auto found = std::ranges::find(model.outputs(), port.name, &ModelOutput::name);
    if (found == model.outputs().end()) continue;
    const TensorDesc& declared = found->declared;
    if (declared.type != port.desc.type || declared.shape.size() != port.desc.shape.size())
      continue;
    for (size_t i = 0; i < declared.shape.size(); ++i) {
      if (port.desc.shape[i] == kUnknownDim) port.desc.shape[i] = declared.shape[i];
    }
  }
  return outputs;
}

}  // namespace het
